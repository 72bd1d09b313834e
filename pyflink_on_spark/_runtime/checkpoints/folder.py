"""A folder on any file system, as far as checkpoints need one: whole files, never half of one."""

from __future__ import annotations

import io
import os
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from pyflink_on_spark._filesystem.location import is_remote, locate

_BUFFER = 1024 * 1024
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Folder(ABC):
    """A folder, given by a URI.

    Args:
        uri: of the folder.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")
        self.shown = self.uri
        """What errors call it: the URI without a password."""

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
        return self._at(f"{self.uri}/{name}")

    def beside(self, name: str) -> Folder:
        """Return a folder next to this one."""
        return self._at(f"{self.uri.rpartition('/')[0]}/{name}")

    @abstractmethod
    def _at(self, uri: str) -> Folder:
        """Return another folder of the same file system."""


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

    def _at(self, uri: str) -> Folder:
        return LocalFolder(uri)


class RemoteFolder(Folder):
    """A folder on a file system that fsspec reaches.

    Args:
        uri: of the folder.
        configuration: the job's; says how the file system is reached.
    """

    def __init__(self, uri: str, configuration: Mapping[str, str] = _NOTHING) -> None:
        super().__init__(uri)
        self._configuration = configuration
        place = locate(self.uri, configuration)
        self.shown, self._files = place.path, place.files
        if not self._files.writable:
            raise ValueError(f"checkpoints cannot be kept in {self.shown}: it can only be read")

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Write a file; object stores show it when it is complete, others under another name."""
        path = f"{self.shown}/{name}"
        hidden = path if self._files.whole_files else f"{self.shown}/.{name}.{uuid.uuid4().hex}"
        try:
            with self._files.create(hidden) as stream:
                yield stream
            if hidden != path:
                self._files.rename(hidden, path)
        except BaseException:
            with suppress(OSError):
                self._files.remove(hidden)
            raise

    def open(self, name: str) -> BinaryIO:
        """Return a file for reading."""
        raw: Any = self._files.open(f"{self.shown}/{name}")
        return io.BufferedReader(raw, _BUFFER)

    def names(self) -> list[str]:
        """Return what is inside."""
        return self._files.names(self.shown)

    def remove(self, name: str = "") -> None:
        """Remove a file or folder."""
        path = f"{self.shown}/{name}" if name else self.shown
        with suppress(FileNotFoundError):
            if self._files.status(path).is_folder:
                self._files.remove_folder(path)
            else:
                self._files.remove(path)

    def _at(self, uri: str) -> Folder:
        return RemoteFolder(uri, self._configuration)


def folder(uri: str, configuration: Mapping[str, str] = _NOTHING) -> Folder:
    """Return the folder of a URI or a local path.

    Args:
        uri: of the folder.
        configuration: the job's; says how file systems are reached.

    Raises:
        ValueError: if no file system is known for it.
        ModuleNotFoundError: if a package for its file system is missing.
    """
    return RemoteFolder(uri, configuration) if is_remote(uri) else LocalFolder(uri)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
