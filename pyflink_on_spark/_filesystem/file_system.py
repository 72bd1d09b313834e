"""What a file system has to do for sources, sinks and checkpoints."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file or folder that was found.

    Args:
        path: its path, as the file system takes it.
        size: in bytes; 0 for a folder.
        is_folder: whether it is one.
    """

    path: str
    size: int
    is_folder: bool = False


class FileSystem(ABC):
    """Files by their paths: absolute local ones, or URIs. Picklable.

    What goes wrong is an OSError that names the path.
    """

    resumable: bool
    """Whether a file that is not finished can be gone on with, later and by another process."""
    whole_files: bool = False
    """Whether a file that is created is there once it is closed, and not before."""
    writable: bool = True
    """Whether files can be written."""

    @abstractmethod
    def status(self, path: str) -> FileStatus:
        """Return what is at a path.

        Raises:
            FileNotFoundError: if there is nothing.
        """

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Whether there is anything at a path."""

    @abstractmethod
    def visible_files(self, path: str) -> Iterator[FileStatus]:
        """Yield a file, or all files in a folder and its sub-folders, in order of names.

        Names that begin with ``.`` or ``_`` are left out, the path's own, too.

        Raises:
            FileNotFoundError: if there is nothing.
        """

    @abstractmethod
    def new_files(self, path: str, known: set[str]) -> Iterator[str]:
        """Yield the paths of ``visible_files`` that are not known, in any order.

        Raises:
            FileNotFoundError: if there is nothing.
        """

    @abstractmethod
    def matches(self, pattern: str) -> list[str]:
        """Return the paths that fit a pattern of ``*``, ``?``, ``[...]`` and ``**``, in order."""

    @abstractmethod
    def all_files(self, folder: str) -> Iterator[str]:
        """Yield the paths of all files in a folder and its sub-folders; none if there is none."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder, in order; none if there is no folder."""

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """Open a file for reading here and there.

        Raises:
            FileNotFoundError: if there is none.
        """

    @abstractmethod
    def create(self, path: str) -> BinaryIO:
        """Begin a new file, and the folders that it is in."""

    @abstractmethod
    def make_durable(self, path: str) -> None:
        """Let a file that was written and closed survive the machine."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Give a file another path, in the place of what is there.

        Raises:
            FileNotFoundError: if there is no such file.
        """

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""

    @abstractmethod
    def remove_folder(self, path: str) -> None:
        """Remove a folder and all that is in it, if it is there."""

    def input_path(self, path: str) -> Any:
        """Return what a file format gets as the path of a file to read; see ``open_input``."""
        return path

    def expand(self, path: str) -> list[str]:
        """Return a path, or, if nothing is there and it is a pattern, what fits it.

        Raises:
            FileNotFoundError: if nothing is there, and nothing fits.
        """
        if not is_pattern(path) or self.exists(path):
            return [path]
        found = self.matches(path)
        if not found:
            raise FileNotFoundError(f"no file or folder to read fits {path}")
        return found


def is_hidden(path: str) -> bool:
    """Whether a file or folder of this name is left out when files are read."""
    return os.path.basename(path).startswith((".", "_"))


def is_pattern(path: str) -> bool:
    """Whether a path may stand for several."""
    return _MAGIC.search(path) is not None
