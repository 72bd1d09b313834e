"""The files of this machine and of mounted file systems, and files that are read in order."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import shutil
import stat
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pyflink_on_spark._filesystem.file_system import FileStatus, FileSystem, is_hidden

_CHUNK = 4 * 1024 * 1024  # the size of a request


class LocalFiles(FileSystem):
    """Files by absolute paths."""

    resumable = True

    def status(self, path: str) -> FileStatus:
        found = os.stat(path)
        return FileStatus(path, found.st_size, stat.S_ISDIR(found.st_mode))

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def visible_in(self, folder: str) -> Iterator[FileStatus]:
        for name in sorted(os.listdir(folder)):
            if not is_hidden(name):  # it may be renamed at this moment
                yield from self.visible_files(os.path.join(folder, name))

    def new_files(self, path: str, known: set[str]) -> Iterator[str]:
        if os.path.isdir(path):
            yield from _new_files_in(path, known)
        elif not os.path.exists(path):
            raise FileNotFoundError(f"the file or folder to watch does not exist: {path}")
        elif path not in known and not is_hidden(path):
            yield path

    def matches(self, pattern: str) -> list[str]:
        return sorted(glob.glob(pattern, recursive=True))

    def all_files(self, folder: str) -> Iterator[str]:
        for inner, _, names in os.walk(folder):
            for name in names:
                yield os.path.join(inner, name)

    def names(self, folder: str) -> list[str]:
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def open(self, path: str) -> BinaryIO:
        return open(path, "rb")

    def create(self, path: str, *, private: bool = False) -> BinaryIO:
        self._make_folders(os.path.dirname(path), 0o700 if private else 0o777)
        return open(path, "xb", opener=_open_privately) if private else open(path, "xb")

    def _make_folders(self, path: str, mode: int) -> None:
        """Create a folder and those that it is in, so that they survive a power failure."""
        missing = [path]
        while not os.path.isdir(missing[-1]):
            missing.append(os.path.dirname(missing[-1]))
        for folder in reversed(missing[:-1]):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, mode)
        for parent in missing[1:]:
            self.make_durable(parent)

    def make_durable(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def remove_folder(self, path: str) -> None:
        shutil.rmtree(path, ignore_errors=True)


LOCAL = LocalFiles()


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _new_files_in(top: str, known: set[str]) -> Iterator[str]:
    folders = deque([top] if not is_hidden(top) else [])
    while folders:
        folder = folders.popleft()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if is_hidden(entry.name):
                        continue
                    if entry.path not in known and entry.is_dir():
                        folders.append(entry.path)
                    elif entry.path not in known:
                        yield entry.path
        except FileNotFoundError:
            if folder == top:
                raise


class InputPath(os.PathLike[str]):
    """The path of a file on another file system.

    ``str`` returns the URI. As an ``os.PathLike``, for example for the built-in ``open``, it is the
    path of a local copy, which exists as long as this object.

    Args:
        uri: the URI of the file.
        files: the file system.
    """

    def __init__(self, uri: str, files: FileSystem) -> None:
        self._uri, self._files = uri, files
        self._copy: str | None = None

    def __str__(self) -> str:
        return self._uri

    def __repr__(self) -> str:
        return repr(self._uri)

    def endswith(self, suffix: str | tuple[str, ...]) -> bool:
        """True if the URI ends with a suffix."""
        return self._uri.endswith(suffix)

    def open(self) -> BinaryIO:
        """Open the file for reading at any place."""
        return self._files.open(self._uri)

    def open_ahead(self) -> BinaryIO:
        """Open the file for sequential reading, with large requests."""
        raw: Any = self.open()
        return io.BufferedReader(raw, _CHUNK)

    def __fspath__(self) -> str:
        if self._copy is None:
            self._copy = self._fetch()
        return self._copy

    def _fetch(self) -> str:
        descriptor, path = tempfile.mkstemp(prefix="input-", suffix=Path(self._uri).suffix)
        weakref.finalize(self, _remove, path)
        with os.fdopen(descriptor, "wb") as copy, self.open() as file:
            shutil.copyfileobj(file, copy, _CHUNK)
        return path


def open_input(path: str | InputPath) -> BinaryIO:
    """Open a file for reading at any place; a local file has no buffer.

    Raises:
        FileNotFoundError: there is no such file.
        OSError: the file cannot be read.
    """
    if isinstance(path, InputPath):
        return path.open_ahead()
    return open(path, "rb", buffering=0)


def source_of(path: str | InputPath) -> str | BinaryIO:
    """Return the file for pyarrow: the path of a local file, or an open file."""
    return path.open() if isinstance(path, InputPath) else path


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
