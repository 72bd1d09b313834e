"""The settings of a file source and of a file sink: enumeration and compaction among them."""

from __future__ import annotations

import contextlib
import enum
import itertools
import os
import re
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, BinaryIO

from pyflink_on_spark._connectors.files.bucket_naming import BucketNaming, DateTimeBuckets
from pyflink_on_spark._connectors.files.part_file import PendingFile, in_progress_path, naming
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.file_system import FileStatus, FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._filesystem.location import Location, absolute

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import InputFileFormat, OutputFileFormat


SMALLEST_SPLIT = 16 * 1024 * 1024
"""The size in bytes below which a file is not split."""
DEFAULT_PART_SIZE = 128 * 1024 * 1024
DEFAULT_INTERVAL = 60 * 1000
DEFAULT_BUCKET_CHECK_INTERVAL = 60 * 1000


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


class Compactor(ABC):
    """Compacts some files into one."""

    @abstractmethod
    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        """Write the contents of the files at some paths to a file."""


@dataclass(frozen=True)
class Concatenation(Compactor):
    """Concatenates the files, with a delimiter after each of them."""

    delimiter: bytes = b""

    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        for path in paths:
            with files.open(path) as part:
                shutil.copyfileobj(part, output, 1024 * 1024)
            output.write(self.delimiter)


class IdenticalCopy(Compactor):
    """Copies a single file."""

    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        if len(paths) > 1:
            raise ValueError("IdenticalFileCompactor can only copy one input file")
        Concatenation().compact(paths, output, files)


@dataclass(frozen=True)
class CompactionStrategy:
    """The rule that decides when files are compacted.

    Args:
        size_threshold: files of a bucket are compacted as soon as they have this size together, in
            bytes; negative for no such condition.
        checkpoints: files are compacted after this number of checkpoints; None for no such
            condition.
        threads: the number of threads that compact.

    Raises:
        ValueError: there is no condition, or a number is too small.
    """

    size_threshold: int = -1
    checkpoints: int | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        if self.size_threshold < 0 and self.checkpoints is None:
            raise ValueError("At least one trigger condition must be configured.")
        if self.checkpoints is not None and self.checkpoints <= 0:
            raise ValueError("Number of checkpoints before compaction should be more than 0.")
        if self.threads <= 0:
            raise ValueError("Compact threads should be more than 0.")

    def groups(
        self, files: Iterable[PendingFile]
    ) -> tuple[list[list[PendingFile]], list[list[PendingFile]]]:
        """Group the files that are compacted into one.

        Returns:
            The groups that have reached the size, and the groups that may get more files.
        """
        full: list[list[PendingFile]] = []
        buckets: dict[str, list[PendingFile]] = {}
        for file in files:
            group = buckets.setdefault(file.bucket, [])
            group.append(file)
            if self._is_full(group):
                full.append(buckets.pop(file.bucket))
        return full, list(buckets.values())

    def is_due(self, group: list[PendingFile], checkpoint: int) -> bool:
        """True once a group has waited for the number of checkpoints."""
        waited = checkpoint - group[0].checkpoint + 1
        return self.checkpoints is not None and waited >= self.checkpoints

    def _is_full(self, group: list[PendingFile]) -> bool:
        return 0 <= self.size_threshold <= sum(file.size for file in group)


@dataclass(frozen=True)
class Compaction:
    """Compacts the finished part files of a sink when they are committed."""

    strategy: CompactionStrategy
    compactor: Compactor

    def hold_back(
        self, files: list[PendingFile], checkpoint: int, where: FileSystem = LOCAL
    ) -> tuple[list[PendingFile], list[PendingFile]]:
        """Return the files to commit with a checkpoint, and the files that wait for more files.

        Waiting files are renamed, so that they are not removed as leftovers of a failed attempt.
        """
        ready, open_groups = self.strategy.groups(files)
        held: list[PendingFile] = []
        for group in open_groups:
            if self.strategy.is_due(group, checkpoint):
                ready.append(group)
            else:
                held += group
        for file in held:
            with contextlib.suppress(FileNotFoundError), naming(file.path):
                where.rename(file.in_progress_path, _waiting_path(file))
        return [file for group in ready for file in group], held

    def commit(
        self, parts: list[PendingFile], again: bool = False, files: FileSystem = LOCAL
    ) -> None:
        """Compact files and make the results visible. Idempotent.

        Args:
            parts: the committables of a checkpoint.
            again: whether the files may have been committed, and moved since then.
            files: the file system.
        """
        full, others = self.strategy.groups(parts)
        with ThreadPoolExecutor(self.strategy.threads, "compaction") as threads:
            commit = partial(self._commit_group, again=again, files=files)
            for _done in threads.map(commit, full + others):
                pass

    def _commit_group(self, group: list[PendingFile], again: bool, files: FileSystem) -> None:
        folder, name = os.path.split(group[0].path)
        path = os.path.join(folder, f"compacted-{name}")
        # Parts are removed after the compacted file is visible.
        done = again and not all(files.exists(_current_path(part, files)) for part in group)
        if not done and not files.exists(path):
            for part in group:
                part.check(_current_path(part, files), files)
            self._write(group, path, files)
        for part in group:
            part.remove(files)
            with naming(part.path):
                files.remove(_waiting_path(part))

    def _write(self, group: list[PendingFile], path: str, files: FileSystem) -> None:
        hidden = in_progress_path(path)
        output = PendingFile(group[0].bucket, hidden, path, 0)
        try:
            files.remove(hidden)  # left by an attempt that failed
            with naming(path), files.create(hidden) as file:
                self.compactor.compact([_current_path(part, files) for part in group], file, files)
            with naming(path):
                files.make_durable(hidden)
            replace(output, size=files.status(hidden).size).commit(files)
        except BaseException:
            output.discard(files)
            raise


def _waiting_path(file: PendingFile) -> str:
    folder, name = os.path.split(file.path)
    return os.path.join(folder, f".{name}.uncompacted")


def _current_path(file: PendingFile, files: FileSystem) -> str:
    waiting = _waiting_path(file)
    return waiting if files.exists(waiting) else file.in_progress_path
