"""Files on the file systems of fsspec."""

from __future__ import annotations

import contextlib
import errno
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, cast

from pyflink_on_spark._filesystem.connection import Connection, connection, forget_connection
from pyflink_on_spark._filesystem.file_system import (
    FileStatus,
    FileSystem,
    Scheme,
    SessionUse,
    is_hidden,
)
from pyflink_on_spark._filesystem.local_files import InputPath


@dataclass(frozen=True)
class RemoteFiles(FileSystem):
    """Files by URIs with a common root.

    Args:
        root: the scheme and the authority, such as ``s3://bucket``, without a password.
        scheme: the kind of the file system.
        options: the arguments of fsspec's file system, which may contain secrets.
    """

    root: str
    scheme: Scheme
    options: Mapping[str, Any] = field(repr=False, compare=False)
    resumable = False

    @property
    def whole_files(self) -> bool:  # type: ignore[override]
        return self.scheme.object_store

    @property
    def writable(self) -> bool:  # type: ignore[override]
        return self.scheme.writable

    def status(self, path: str) -> FileStatus:
        with self._explaining(path) as (fs, inner):
            return _status(path, fs.info(inner))

    def exists(self, path: str) -> bool:
        try:
            self.status(path)
        except FileNotFoundError:
            return False
        return True

    def visible_in(self, folder: str) -> Iterator[FileStatus]:
        files = [(name.split("/"), size) for name, size in self._find(folder)]
        for parts, size in sorted(files):
            if not any(map(is_hidden, parts)):
                yield FileStatus(_joined(folder, "/".join(parts)), size)

    def new_files(self, path: str, known: set[str]) -> Iterator[str]:
        return (file.path for file in self.visible_files(path) if file.path not in known)

    def matches(self, pattern: str) -> list[str]:
        with self._connected(pattern) as found:
            top = self._inside(found, self.root)
            names = found.fresh().glob(self._inside(found, pattern))
            return sorted(_joined(self.root, _below(top, name)) for name in names)

    def all_files(self, folder: str) -> Iterator[str]:
        try:
            found = self._find(folder)
        except FileNotFoundError:
            return
        yield from (_joined(folder, name) for name, _ in found)

    def names(self, folder: str) -> list[str]:
        try:
            with self._explaining(folder) as (fs, inner):
                found = [info["name"] for info in fs.ls(inner, detail=True)]
        except FileNotFoundError:
            return []
        below = (_below(inner, name) for name in found)
        return sorted({name.partition("/")[0] for name in below if name})

    def open(self, path: str) -> BinaryIO:
        with self._connected(path) as found:
            inner = self._inside(found, path)
            stream = found.fresh().open(inner, "rb", **self._block_size())
            opened = RemoteInput(stream, partial(self._explaining, path), found.session)
        return cast("BinaryIO", opened)

    def create(self, path: str, *, private: bool = False) -> BinaryIO:
        with self._connected(path) as found:
            fs, inner = found.fresh(), self._inside(found, path)
            if not self.scheme.object_store:
                fs.makedirs(inner.rpartition("/")[0] or "/", exist_ok=True)
            stream = fs.open(inner, "wb", **self._block_size())
            opened = RemoteOutput(stream, partial(self._explaining, path), found.session)
        return cast("BinaryIO", opened)

    def make_durable(self, path: str) -> None:
        """Do nothing: a file that was closed without an error is durable."""

    def rename(self, source: str, target: str) -> None:
        with self._connected(source) as found:
            inner = self._inside(found, source)
            found.rename(found.fresh(), inner, self._inside(found, target))

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError), self._explaining(path) as (fs, inner):
            fs.rm_file(inner)

    def remove_folder(self, path: str) -> None:
        folders: set[str] = set()
        for file in list(self.all_files(path)):
            self.remove(file)
            parent = file.rpartition("/")[0]
            while len(parent) > len(path):
                folders.add(parent)
                parent = parent.rpartition("/")[0]
        for folder in [*sorted(folders, key=len, reverse=True), path]:
            with contextlib.suppress(OSError), self._connected(folder) as found:
                found.remove_empty_folder(found.fresh(), self._inside(found, folder))

    def input_path(self, path: str) -> InputPath:
        return InputPath(path, self)

    def _find(self, folder: str) -> list[tuple[str, int]]:
        """Return the relative names and the sizes of all files in a folder and its sub-folders."""
        with self._explaining(folder) as (fs, inner):
            found = fs.find(inner, detail=True)
            return [(_below(inner, name), _size(info)) for name, info in found.items()]

    @property
    def _connection(self) -> Connection:
        return connection(self.root, self.scheme, self.options)

    def _inside(self, found: Connection, path: str) -> str:
        return found.inner_path(path[len(self.root) :])

    def _block_size(self) -> dict[str, int]:
        return {"block_size": _FTP_BLOCK} if self.scheme.protocol == "ftp" else {}

    @contextlib.contextmanager
    def _explaining(self, path: str) -> Iterator[tuple[Any, str]]:
        """Yield fsspec's file system and path; errors contain the URI, and no secret."""
        with self._connected(path) as found:
            yield found.fresh(), self._inside(found, path)

    @contextlib.contextmanager
    def _connected(self, path: str) -> Iterator[Connection]:
        """Yield the connection; errors contain the URI, and no secret."""
        found = None
        try:
            found = self._connection
            yield found
        except FileNotFoundError as error:
            raise FileNotFoundError(errno.ENOENT, f"there is no such file: {path}") from error
        except Exception as error:  # noqa: BLE001 - each library has errors of its own
            text = " ".join(str(error).split()) or type(error).__name__
            for secret in _secrets(self.options):
                text = text.replace(secret, "***")
            missing = _says_missing(error)
            if not missing and found is not None and found.is_lost(error):
                forget_connection(self.root, self.options)
            number = errno.ENOENT if missing else getattr(error, "errno", None) or errno.EIO
            raise OSError(number, f"{path}: {text}") from None


# FTP needs a connection for each block.
_FTP_BLOCK = 4 * 1024 * 1024


def _status(path: str, info: Mapping[str, Any]) -> FileStatus:
    return FileStatus(path, _size(info), info.get("type") == "directory")


def _size(info: Mapping[str, Any]) -> int:
    return int(info.get("size") or 0)


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"


def _below(folder: str, name: str) -> str:
    return name.strip("/")[len(folder.strip("/")) :].lstrip("/")


def _says_missing(error: Exception) -> bool:
    """True for a library's error that means a missing file, as FTP's 550 does."""
    return not isinstance(error, OSError) and str(error).startswith("550")


def _secrets(options: Mapping[str, object]) -> list[str]:
    return [
        value
        for name, value in options.items()
        if isinstance(value, str) and len(value) > 3 and name not in _PUBLIC
    ]


_PUBLIC = frozenset(
    {"host", "username", "user", "endpoint_url", "endpoint_override", "endpoint", "region"}
    | {"account_name", "blob_storage_authority", "dfs_storage_authority", "protocol"}
)


Explaining = Callable[[], AbstractContextManager[Any]]


class _RemoteFile(io.RawIOBase):
    """An open file.

    Args:
        stream: the file of fsspec's.
        explaining: returns a context in which errors are OSErrors with the URI of the file.
        session: the session that has to stay open until the file is closed.
    """

    def __init__(self, stream: Any, explaining: Explaining, session: SessionUse) -> None:
        super().__init__()
        self._stream, self._explaining, self._session = stream, explaining, session
        session.add()

    def close(self) -> None:
        if not self.closed:
            try:
                with self._explaining() as (fs, _):
                    self._at(fs).close()
            finally:
                super().close()
                self._session.release()

    def _at(self, fs: Any) -> Any:
        """Return fsspec's file on the current connection."""
        if type(getattr(self._stream, "fs", None)) is type(fs):
            self._stream.fs = fs
        return self._stream


class RemoteInput(_RemoteFile):
    """A file for reading at any place."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        with self._explaining() as (fs, _):
            whole = size is None or size < 0
            return bytes(self._at(fs).read() if whole else self._at(fs).read(size))

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer: Any) -> int:
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with self._explaining():
            self._stream.seek(offset, whence)
            return int(self._stream.tell())

    def tell(self) -> int:
        return int(self._stream.tell())


class RemoteOutput(_RemoteFile):
    """A file for sequential writing."""

    def __init__(self, stream: Any, explaining: Explaining, session: SessionUse) -> None:
        super().__init__(stream, explaining, session)
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        with self._explaining() as (fs, _):
            self._at(fs).write(content)
        size = memoryview(content).nbytes
        self._size += size
        return size

    def tell(self) -> int:
        return self._size
