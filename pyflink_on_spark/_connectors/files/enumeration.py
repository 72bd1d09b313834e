"""Finding the files to read, and cutting them into splits."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from pyflink_on_spark._filesystem.file_system import FileStatus
from pyflink_on_spark._filesystem.location import Location

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
class FileSplit:
    """What one subtask reads of a file.

    Args:
        path: the file: a local one, or a URI.
        start: the offset in bytes from which on records belong to the split.
        end: the offset before which they begin; None for all there is.
    """

    path: str
    start: int = 0
    end: int | None = None


def find_files(places: Iterable[Location]) -> list[FileStatus]:
    """List the files under some paths, folders with all their sub-folders, in order of names.

    Names that begin with ``.`` or ``_`` are left out, also when they are named explicitly. A path
    that does not exist, and is a pattern, stands for the paths that fit it.

    Raises:
        FileNotFoundError: if a path does not exist.
    """
    return [
        file
        for place in places
        for path in place.files.expand(place.path)
        for file in place.files.visible_files(path)
    ]


def cut_files(
    files: list[FileStatus],
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


def _pieces(file: FileStatus, count: int) -> list[FileSplit]:
    bounds = [file.size * i // count for i in range(count + 1)]
    return [FileSplit(file.path, *bound) for bound in itertools.pairwise(bounds)]
