"""The contract of a file system with sources, sinks and checkpoints."""

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
    """A file or folder that exists.

    Args:
        path: the path, as the file system represents it.
        size: the size in bytes; 0 for a folder.
        is_folder: whether it is a folder.
    """

    path: str
    size: int
    is_folder: bool = False


class FileSystem(ABC):
    """Files by their paths: absolute local paths, or URIs. Picklable.

    All methods raise OSError with the path in the message.
    """

    resumable: bool
    """True if another process can resume an unfinished file."""
    whole_files: bool = False
    """True if a new file appears only when it is closed."""
    writable: bool = True
    """True if files can be written."""

    @abstractmethod
    def status(self, path: str) -> FileStatus:
        """Return the status of a path.

        Raises:
            FileNotFoundError: the path does not exist.
        """

    @abstractmethod
    def exists(self, path: str) -> bool:
        """True if a path exists."""

    def visible_files(self, path: str) -> Iterator[FileStatus]:
        """Yield a file, or all files in a folder and its sub-folders, in order of names.

        Names that begin with ``.`` or ``_`` are skipped, also that of the path itself.

        Raises:
            FileNotFoundError: the path does not exist.
        """
        try:
            found = self.status(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"the file or folder to read does not exist: {path}") from None
        if is_hidden(path):
            return
        if found.is_folder:
            yield from self.visible_in(path)
        else:
            yield found

    @abstractmethod
    def visible_in(self, folder: str) -> Iterator[FileStatus]:
        """Yield the visible files of a folder and its sub-folders, in order of names."""

    @abstractmethod
    def new_files(self, path: str, known: set[str]) -> Iterator[str]:
        """Yield the paths of ``visible_files`` that are not known, in any order.

        Raises:
            FileNotFoundError: the path does not exist.
        """

    @abstractmethod
    def matches(self, pattern: str) -> list[str]:
        """Return the paths that match a pattern of ``*``, ``?``, ``[...]`` and ``**``, in order."""

    @abstractmethod
    def all_files(self, folder: str) -> Iterator[str]:
        """Yield the paths of all files in a folder and its sub-folders, if the folder exists."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Return the names of files and folders in a folder, in order, if the folder exists."""

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """Open a file for reading at any place.

        Raises:
            FileNotFoundError: there is no such file.
        """

    @abstractmethod
    def create(self, path: str, *, private: bool = False) -> BinaryIO:
        """Create a file, and the folders of its path.

        Args:
            path: of the file.
            private: whether only the user of the process may read the file and the new folders;
                object stores have permissions of their own.
        """

    @abstractmethod
    def make_durable(self, path: str) -> None:
        """Write a closed file, or the names in a folder, to the disk."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Rename a file; replace a file at the new path.

        Raises:
            FileNotFoundError: there is no such file.
        """

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file if it exists."""

    @abstractmethod
    def remove_folder(self, path: str) -> None:
        """Remove a folder with its content if it exists."""

    def input_path(self, path: str) -> Any:
        """Return the path of a file in the form that formats open; see ``open_input``."""
        return path

    def expand(self, path: str) -> list[str]:
        """Return a path, or the matches of a pattern if no file has the pattern as its name.

        Raises:
            FileNotFoundError: the pattern has no match.
        """
        if not is_pattern(path) or self.exists(path):
            return [path]
        found = self.matches(path)
        if not found:
            raise FileNotFoundError(f"no file or folder to read matches {path}")
        return found


def is_hidden(path: str) -> bool:
    """True for the name of a file or folder that is skipped when files are read."""
    return os.path.basename(path).startswith((".", "_"))


def is_pattern(path: str) -> bool:
    """True for a path that may be a pattern."""
    return _MAGIC.search(path) is not None
