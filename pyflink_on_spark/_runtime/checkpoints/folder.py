"""A folder on any file system, as far as checkpoints need one: whole files, never half of one."""

from __future__ import annotations

import os
import shutil
import uuid
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class Folder(ABC):
    """A folder, given by a URI.

    Args:
        uri: of the folder.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Write a file so that it is there as a whole, and safe, or not at all."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """Return what is in a file.

        Raises:
            FileNotFoundError: if it is not there.
        """

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the files and folders inside; none if the folder is not there."""

    @abstractmethod
    def remove(self, name: str = "") -> None:
        """Remove a file or folder inside, or this folder, if it is there."""

    def inside(self, name: str) -> Folder:
        """Return a folder in this one."""
        return folder(f"{self.uri}/{name}")


class LocalFolder(Folder):
    """A folder of this machine, or of a file system that is mounted."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        parts = urlsplit(self.uri)
        self.path = Path(unquote(parts.path) if parts.scheme else self.uri)

    def write(self, name: str, content: bytes) -> None:
        """Write a file under another name, let it reach the disk, then give it its own."""
        self.path.mkdir(parents=True, exist_ok=True)
        temporary = self.path / f".{name}.{uuid.uuid4().hex}"
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / name)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(self.path)

    def read(self, name: str) -> bytes:
        """Return what is in a file."""
        return (self.path / name).read_bytes()

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

    def write(self, name: str, content: bytes) -> None:
        """Write a file; object stores show it when it is complete."""
        self._fs.create_dir(self._path, recursive=True)
        with self._fs.open_output_stream(f"{self._path}/{name}") as stream:
            stream.write(content)

    def read(self, name: str) -> bytes:
        """Return what is in a file."""
        with self._fs.open_input_stream(f"{self._path}/{name}") as stream:
            return bytes(stream.read())

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
