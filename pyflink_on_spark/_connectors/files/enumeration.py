"""Finds the files to read, and divides them into splits."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable

from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.file_system import FileStatus
from pyflink_on_spark._filesystem.location import Location

SMALLEST_SPLIT = 16 * 1024 * 1024
"""The size in bytes below which a file is not split."""


class Enumeration(enum.Enum):
    """The division of files: whether several subtasks may read one file."""

    SPLIT_LARGE_FILES = enum.auto()
    WHOLE_FILES = enum.auto()


class SplitAssignment(enum.Enum):
    """The assignment of splits to subtasks."""

    LOCALITY_AWARE = enum.auto()


def find_files(places: Iterable[Location]) -> list[FileStatus]:
    """Return the files under some paths and in all sub-folders, in order of names.

    Names that begin with ``.`` or ``_`` are skipped, even if a path names them. A pattern stands
    for the paths that it matches, unless a file of that name exists.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    return [
        file
        for place in places
        for path in place.files.expand(place.path)
        for file in place.files.visible_files(path)
    ]


def split_files(
    files: list[FileStatus],
    parallelism: int,
    splittable: frozenset[str],
    smallest: int = SMALLEST_SPLIT,
) -> list[FileSplit]:
    """Return the splits of files; a large file has several, so that all subtasks have work.

    Args:
        files: the files, in order.
        parallelism: the number of subtasks.
        splittable: the paths of files that may be split.
        smallest: the size in bytes below which a file is not split.
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
