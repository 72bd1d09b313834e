"""Files on the file systems of fsspec, and the connections to these."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, cast

from pyflink_on_spark._filesystem.file_system import (
    FileStatus,
    FileSystem,
    Scheme,
    SessionUse,
    SshSession,
    is_hidden,
    uses_arrow,
)
from pyflink_on_spark._filesystem.local_files import InputPath

# Servers close idle connections after five minutes and more.
_REST_SECONDS = 30.0


class Connection:
    """A file system of fsspec's, and its paths.

    Args:
        fs: the file system.
        top: its path for the root of all URIs.
        copies: whether a rename has to copy the file.
        has_folders: whether folders exist without files.
        shared: whether several threads may use it at the same time.
        tells_renamed: whether a rename that fails raises an error.
        session: the session to end when the file system is not used any more.
    """

    def __init__(
        self,
        fs: Any,
        top: str,
        *,
        copies: bool,
        has_folders: bool,
        shared: bool,
        tells_renamed: bool = True,
        session: SshSession | None = None,
    ) -> None:
        self._fs, self._top, self.shared = fs, top, shared
        self._copies, self._has_folders = copies, has_folders
        self._tells_renamed = tells_renamed
        self._used = time.monotonic()
        self.session = SessionUse(session)

    @property
    def rested(self) -> bool:
        """True after an idle time so long that the server may have closed the connection."""
        return time.monotonic() - self._used >= _REST_SECONDS

    def fresh(self) -> Any:
        """Return the file system with an empty cache of folders."""
        self._used = time.monotonic()
        self._fs.invalidate_cache()
        return self._fs

    def is_lost(self, error: Exception) -> bool:
        """True if the connection may be lost: the error is not an answer of the server."""
        if not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError):
            return True
        # A server's "Failure" and a closed socket are the same to SFTP.
        return not self.session.lives

    def inner_path(self, rest: str) -> str:
        """Return the file system's path for the part of a URI after the root."""
        return self._top.rstrip("/") + rest if rest else self._top

    def rename(self, fs: Any, source: str, target: str) -> None:
        """Rename a file."""
        if self._copies:
            fs.cp_file(source, target)
            fs.rm_file(source)
        else:
            fs.mv(source, target)
            if not self._tells_renamed:
                self._check_renamed(fs, source, target)

    def _check_renamed(self, fs: Any, source: str, target: str) -> None:
        if fs.exists(source):  # a file of the new name is in the way
            fs.rm_file(target)
            fs.mv(source, target)
        if fs.exists(source):
            raise OSError(f"it cannot be renamed to {target}")
        if not fs.exists(target):
            raise FileNotFoundError(source)

    def remove_empty_folder(self, fs: Any, path: str) -> None:
        """Remove an empty folder, if the file system has folders."""
        if self._has_folders and path.strip("/"):
            fs.rmdir(path)


class _Own(dict[str, Connection]):
    """The connections of a thread, which are released when the thread ends."""

    def __del__(self, exits: Callable[[], bool] = sys.is_finalizing) -> None:
        if not exits():
            for one in self.values():
                one.session.release()


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.process = os.getpid()
        self.connections = _Own()


class _OfProcess:
    def __init__(self) -> None:
        self.process = os.getpid()
        self.connections: dict[str, Connection] = {}
        self.lock = threading.Lock()


_OWN = _OfThread()
_shared = _OfProcess()


def _forget() -> None:
    """Forget all connections."""
    global _shared  # noqa: PLW0603 - a process has one
    _shared = _OfProcess()
    _OWN.__init__()  # type: ignore[misc]


def connection(root: str, scheme: Scheme, options: Mapping[str, object]) -> Connection:
    """Return the connection for this thread.

    Args:
        root: the common beginning of all URIs.
        scheme: the scheme of the URIs.
        options: the arguments of fsspec's file system.
    """
    if {_OWN.process, _shared.process} != {os.getpid()}:  # a forked process must not share sockets
        _forget()
    key = _key(root, options)
    found = _shared.connections.get(key) or _OWN.connections.get(key)
    if found is not None and (found.shared or not found.rested):
        return found
    forget_connection(root, options)
    with _shared.lock:
        found = _shared.connections.get(key)
        if found is None:
            found = _connect(root, scheme, options)
            (_shared if found.shared else _OWN).connections[key] = found
    return found


def forget_connection(root: str, options: Mapping[str, object]) -> None:
    """Forget the connection of this thread; a shared one reconnects by itself."""
    found = _OWN.connections.pop(_key(root, options), None)
    if found is not None:
        found.session.release()


def _key(root: str, options: Mapping[str, object]) -> str:
    return f"{root} {sorted(options.items())!r}"


def options_of_uri(scheme: Scheme, root: str) -> dict[str, object]:
    """Return the arguments of a file system that a URI contains, such as the host.

    Args:
        scheme: the scheme of the URI.
        root: the scheme and the authority of the URI, without a password.
    """
    if uses_arrow(scheme):
        return {}
    registry = importlib.import_module("fsspec.registry")
    rest = root.partition("://")[2]
    kind = registry.get_filesystem_class(scheme.protocol)
    return dict(kind._get_kwargs_from_urls(f"{scheme.protocol}://{rest}/"))


def _connect(root: str, scheme: Scheme, options: Mapping[str, object]) -> Connection:
    if uses_arrow(scheme):
        return _connect_arrow(root, scheme, options)
    fsspec = importlib.import_module("fsspec")
    spec = importlib.import_module("fsspec.spec")
    # SFTP's has no cache of folders, and passes unknown arguments to paramiko.
    cache = {} if scheme.protocol == "sftp" else {"use_listings_cache": False}
    fs = fsspec.filesystem(scheme.protocol, skip_instance_cache=True, **cache, **options)
    rest = root.partition("://")[2]
    top = str(fs._strip_protocol(f"{scheme.protocol}://{rest}/"))
    copies = type(fs).mv is spec.AbstractFileSystem.mv
    shared = bool(getattr(fs, "async_impl", False))
    return Connection(
        fs,
        top,
        copies=copies,
        has_folders=not scheme.object_store,
        shared=shared,
        # WebHDFS answers "false", which fsspec drops.
        tells_renamed=scheme.protocol != "webhdfs",
        session=SshSession(fs) if scheme.protocol == "sftp" and not shared else None,
    )


def _connect_arrow(root: str, scheme: Scheme, options: Mapping[str, object]) -> Connection:
    from pyarrow import fs as arrow

    wrapper = importlib.import_module("fsspec.implementations.arrow").ArrowFSWrapper
    rest = root.partition("://")[2]
    if scheme.protocol == "s3":
        found, top = arrow.S3FileSystem(**options), rest
    elif scheme.protocol == "abfs":
        found, top = arrow.AzureFileSystem(**options), rest.partition("@")[0]
    elif options:
        raise ModuleNotFoundError(
            f"pyarrow has no options {', '.join(sorted(options))} for the scheme "
            f"{scheme.protocol!r}: pip install {scheme.package}"
        )
    else:
        found, top = arrow.FileSystem.from_uri(f"{root}/")
    wrapped = wrapper(found, use_listings_cache=False, skip_instance_cache=True)
    return Connection(wrapped, top, copies=False, has_folders=True, shared=True)


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
    options: Mapping[str, object] = field(repr=False, compare=False)
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


def _status(path: str, info: Mapping[str, object]) -> FileStatus:
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

    def _at(self, fs: object) -> Any:
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

    def __init__(self, stream: object, explaining: Explaining, session: SessionUse) -> None:
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
