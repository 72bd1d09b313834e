"""A folder on any file system, as far as checkpoints need one: whole files, never half of one."""

from __future__ import annotations

import io
import os
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

_BUFFER = 1024 * 1024


class Folder(ABC):
    """A folder, given by a URI.

    Args:
        uri: of the folder.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")

    @abstractmethod
    def create(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Write a file so that it is there as a whole, and safe, or not at all."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Return a file for reading here and there.

        Raises:
            FileNotFoundError: if it is not there.
        """

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the files and folders inside; none if the folder is not there."""

    @abstractmethod
    def remove(self, name: str = "") -> None:
        """Remove a file or folder inside, or this folder, if it is there."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file at once."""
        with self.create(name) as file:
            file.write(content)

    def read(self, name: str) -> bytes:
        """Return what is in a file.

        Raises:
            FileNotFoundError: if it is not there.
        """
        with self.open(name) as file:
            return file.read()

    def inside(self, name: str) -> Folder:
        """Return a folder in this one."""
        return folder(f"{self.uri}/{name}")

    def beside(self, name: str) -> Folder:
        """Return a folder next to this one."""
        return folder(f"{self.uri.rpartition('/')[0]}/{name}")


class LocalFolder(Folder):
    """A folder of this machine, or of a file system that is mounted."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        parts = urlsplit(self.uri)
        self.path = Path(unquote(parts.path) if parts.scheme else self.uri)

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Write a file under another name, let it reach the disk, then give it its own."""
        self.path.mkdir(parents=True, exist_ok=True)
        temporary = self.path / f".{name}.{uuid.uuid4().hex}"
        try:
            with temporary.open("wb", _BUFFER) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / name)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(self.path)

    def open(self, name: str) -> BinaryIO:
        """Return a file for reading."""
        return (self.path / name).open("rb", _BUFFER)

    def names(self) -> list[str]:
        """Return what is inside."""
        return sorted(path.name for path in self.path.iterdir()) if self.path.is_dir() else []

    def remove(self, name: str = "") -> None:
        """Remove a file or folder."""
        path = self.path / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


class ArrowFolder(Folder):
    """A folder on a file system that pyarrow reaches: S3, GCS, HDFS, Azure."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        from pyarrow import fs

        self._fs: Any
        self._fs, self._path = fs.FileSystem.from_uri(self.uri)

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Write a file; object stores show it when it is complete."""
        self._fs.create_dir(self._path, recursive=True)
        stream = self._fs.open_output_stream(f"{self._path}/{name}", buffer_size=_BUFFER)
        try:
            with stream:
                yield stream
        except BaseException:
            with suppress(OSError):
                self._fs.delete_file(f"{self._path}/{name}")
            raise

    def open(self, name: str) -> BinaryIO:
        """Return a file for reading."""
        return io.BufferedReader(self._fs.open_input_file(f"{self._path}/{name}"), _BUFFER)

    def names(self) -> list[str]:
        """Return what is inside."""
        from pyarrow import fs

        selector = fs.FileSelector(self._path, allow_not_found=True)
        return sorted(info.base_name for info in self._fs.get_file_info(selector))

    def remove(self, name: str = "") -> None:
        """Remove a file or folder."""
        from pyarrow import fs

        path = f"{self._path}/{name}" if name else self._path
        kind = self._fs.get_file_info(path).type
        if kind == fs.FileType.Directory:
            self._fs.delete_dir(path)
        elif kind == fs.FileType.File:
            self._fs.delete_file(path)


def folder(uri: str) -> Folder:
    """Return the folder of a URI or a local path.

    Raises:
        ValueError: if no file system is known for it.
    """
    if urlsplit(uri).scheme in ("", "file"):
        return LocalFolder(uri)
    try:
        return ArrowFolder(uri)
    except Exception as error:
        raise ValueError(f"checkpoints cannot be kept in {uri!r}: {error}") from error


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
