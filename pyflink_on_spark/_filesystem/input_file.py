"""Opens files for formats, on any file system."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pyflink_on_spark._filesystem.file_system import FileSystem

_CHUNK = 4 * 1024 * 1024  # the size of a request


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
