"""The settings of a file source and of a file sink."""

from __future__ import annotations

import enum
import itertools
import os
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.files.bucket_naming import BucketNaming, DateTimeBuckets
from pyflink_on_spark._connectors.files.compaction import Compaction
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.file_system import FileStatus, FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._filesystem.location import Location, absolute

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import InputFileFormat, OutputFileFormat


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


DEFAULT_PART_SIZE = 128 * 1024 * 1024
DEFAULT_INTERVAL = 60 * 1000


@dataclass(frozen=True)
class RollingLimits:
    """The limits of a part file; None for no limit.

    Args:
        part_size: in bytes; a larger part file gets no further element.
        rollover_interval: in ms, since the creation of the part file.
        inactivity_interval: in ms, since the last write to the part file.
        on_checkpoint: whether each checkpoint finishes the part file.

    Raises:
        TypeError: a limit is not an int.
        ValueError: a limit is not positive.
    """

    part_size: int | None = DEFAULT_PART_SIZE
    rollover_interval: int | None = DEFAULT_INTERVAL
    inactivity_interval: int | None = DEFAULT_INTERVAL
    on_checkpoint: bool = False

    def __post_init__(self) -> None:
        for name in ("part_size", "rollover_interval", "inactivity_interval"):
            limit = getattr(self, name)
            if limit is None:
                continue
            if not isinstance(limit, int):
                raise TypeError(f"{name} must be an int, not {limit!r}")
            if limit <= 0:
                raise ValueError(f"{name} must be positive, not {limit}")

    def is_due(self, now: int, created: int, last_written: int) -> bool:
        """True once a time limit has passed; all times in ms."""
        return _passed(self.rollover_interval, now - created) or _passed(
            self.inactivity_interval, now - last_written
        )

    def is_due_at_checkpoint(self, size: int) -> bool:
        """True if a checkpoint finishes a part file of this size in bytes."""
        return self.on_checkpoint or (self.part_size is not None and size > self.part_size)


ON_CHECKPOINT = RollingLimits(None, None, None, on_checkpoint=True)


def _passed(limit: int | None, elapsed: int) -> bool:
    return limit is not None and elapsed >= limit


@dataclass(frozen=True)
class PartAffixes:
    """The prefix and suffix of the names of part files.

    Raises:
        TypeError: one of them is not a string.
    """

    prefix: str = "part"
    suffix: str = ""

    def __post_init__(self) -> None:
        for affix in (self.prefix, self.suffix):
            if not isinstance(affix, str):
                raise TypeError(f"prefix and suffix of part files must be str, not {affix!r}")

    def around(self, middle: str) -> str:
        """Return the name of a part file."""
        return f"{self.prefix}-{middle}{self.suffix}"


class PartNames(ABC):
    """Generates the names of the part files of one bucket."""

    @abstractmethod
    def next_path(self, folder: str) -> str:
        """Return the path of the next part file in the folder of the bucket."""


class UniqueNames(PartNames):
    """``<prefix>-<random id of the bucket and subtask>-<counter><suffix>``."""

    def __init__(self, affixes: PartAffixes) -> None:
        self._affixes = affixes
        self._id = uuid.uuid4()
        self._counter = count()

    def next_path(self, folder: str) -> str:
        return os.path.join(folder, self._affixes.around(f"{self._id}-{next(self._counter)}"))


class SubtaskNames(PartNames):
    """``<prefix>-<subtask>-<counter><suffix>``, without the names of existing files."""

    def __init__(self, affixes: PartAffixes, subtask_index: int, files: FileSystem = LOCAL) -> None:
        self._files = files
        self._affixes = affixes
        self._subtask_index = subtask_index
        self.counter = 0
        """The next number."""

    def next_path(self, folder: str) -> str:
        while True:
            name = self._affixes.around(f"{self._subtask_index}-{self.counter}")
            self.counter += 1
            path = os.path.join(folder, name)
            if not self._files.exists(path):
                return path


DEFAULT_BUCKET_CHECK_INTERVAL = 60 * 1000


@dataclass(frozen=True)
class FileSinkConfig:
    """The settings of a file sink.

    Args:
        base_path: the folder of the buckets; an absolute path or a URI.
        charset_name: the character set of text files.
        buckets: how buckets are named.
        rolling: when a part file is finished.
        bucket_check_interval: the time between two checks of the rolling policy, in ms.
        affixes: the prefix and suffix of the names of part files.
        compaction: how finished part files are compacted, or None.
        named_by_subtask: whether the names of part files contain the subtask, not a random id.
        bulk: the bulk format, or None for text with a line for each element.
        success_file: the name of an empty file in each bucket with part files that are visible;
            None for no such file.
    """

    base_path: str = field(repr=False)  # a URI may have a password
    charset_name: str = "UTF-8"
    buckets: BucketNaming = field(default_factory=DateTimeBuckets)
    rolling: RollingLimits = field(default_factory=RollingLimits)
    bucket_check_interval: int = DEFAULT_BUCKET_CHECK_INTERVAL
    affixes: PartAffixes = field(default_factory=PartAffixes)
    compaction: Compaction | None = None
    named_by_subtask: bool = False
    bulk: OutputFileFormat | None = None
    success_file: str | None = None


@dataclass(frozen=True)
class FileSourceConfig:
    """The settings of a file source.

    Args:
        file_format: the format of the files.
        paths: absolute paths or URIs of files and folders.
        enumeration: whether large files are split; Flink never splits text files.
        discovery_interval: the time between two searches for new files, in ms; None: read only the
            files that exist when the job starts.
        path_pattern: a regular expression that the whole path of a file matches; None: any path.
        table: the name of the table of these files, for messages; None if there is none.
    """

    file_format: InputFileFormat
    paths: tuple[str, ...] = field(repr=False)  # a URI may have a password
    enumeration: Enumeration = Enumeration.WHOLE_FILES
    discovery_interval: int | None = None
    path_pattern: str | None = None
    table: str | None = None

    def selects(self, path: str) -> bool:
        """True for the path of a file that is read."""
        return self.path_pattern is None or re.fullmatch(self.path_pattern, path) is not None

    @classmethod
    def of(cls, file_format: InputFileFormat, paths: Sequence[str]) -> FileSourceConfig:
        """Return the settings for local paths or URIs.

        Raises:
            ValueError: there is no path, or a path is not valid.
            ModuleNotFoundError: a package for a path's file system is missing.
        """
        if not paths:
            raise ValueError("paths must not be empty")
        return cls(file_format, tuple(map(absolute, paths)))
