"""Compacts part files into fewer, larger ones before they become visible."""

from __future__ import annotations

import contextlib
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from pyflink_on_spark._connectors.files.part_file import PendingFile, in_progress_path, naming
from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL


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
            output.commit(files)
        except BaseException:
            output.discard(files)
            raise


def _waiting_path(file: PendingFile) -> str:
    folder, name = os.path.split(file.path)
    return os.path.join(folder, f".{name}.uncompacted")


def _current_path(file: PendingFile, files: FileSystem) -> str:
    waiting = _waiting_path(file)
    return waiting if files.exists(waiting) else file.in_progress_path
