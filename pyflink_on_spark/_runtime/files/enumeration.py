"""Finding the files to read, and cutting them into splits."""

from __future__ import annotations

import enum
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SMALLEST_SPLIT = 16 * 1024 * 1024
"""In bytes: smaller pieces of a file are not worth a subtask of their own."""


class Enumeration(enum.Enum):
    """Whether a file may be read by several subtasks."""

    CUT_LARGE_FILES = enum.auto()
    WHOLE_FILES = enum.auto()


class SplitAssignment(enum.Enum):
    """Which subtask reads a split."""

    LOCALITY_AWARE = enum.auto()


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file that was found, and its size in bytes at that time."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class FileSplit:
    """What one subtask reads of a file.

    Args:
        path: the local file.
        start: the offset in bytes from which on records belong to the split.
        end: the offset before which they begin; None for all there is.
    """

    path: str
    start: int = 0
    end: int | None = None


def find_files(paths: Iterable[str]) -> list[FileToRead]:
    """List the files under some paths, folders with all their sub-folders, in order of names.

    Names that begin with ``.`` or ``_`` are left out, also when they are named explicitly.

    Raises:
        FileNotFoundError: if a path does not exist.
    """
    return [file for path in paths for file in _walk(path)]


def is_hidden(path: str) -> bool:
    """Whether a file or folder of this name is left out."""
    return os.path.basename(path).startswith((".", "_"))


def cut_files(
    files: list[FileToRead],
    parallelism: int,
    splittable: frozenset[str],
    smallest: int = SMALLEST_SPLIT,
) -> list[FileSplit]:
    """Return the splits of some files: several for a large one, so that all subtasks have work.

    Args:
        files: the files, in order.
        parallelism: how many subtasks read.
        splittable: the paths that may be cut.
        smallest: the size in bytes below which a file stays whole.
    """
    total = sum(file.size for file in files)
    target = max(smallest, -(-total // parallelism), 1)
    splits: list[FileSplit] = []
    for file in files:
        pieces = round(file.size / target) if file.path in splittable else 1
        splits.extend(_pieces(file, pieces) if pieces > 1 else [FileSplit(file.path)])
    return splits


def _walk(path: str) -> Iterator[FileToRead]:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"the file or folder to read does not exist: {path}") from None
    if is_hidden(path):
        return
    if stat.S_ISDIR(status.st_mode):
        for name in sorted(os.listdir(path)):
            yield from _walk(os.path.join(path, name))
    else:
        yield FileToRead(path, status.st_size)


def _pieces(file: FileToRead, count: int) -> list[FileSplit]:
    bounds = [file.size * i // count for i in range(count + 1)]
    return [FileSplit(file.path, *bound) for bound in itertools.pairwise(bounds)]
