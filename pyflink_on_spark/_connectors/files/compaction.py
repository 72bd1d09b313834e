"""Making few large files out of many small ones before they become visible."""

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

from pyflink_on_spark._connectors.files.hidden_names import in_progress_path
from pyflink_on_spark._connectors.files.part_file import PendingFile, naming
from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL


class Compactor(ABC):
    """Writes the contents of some files into one."""

    @abstractmethod
    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        """Write to a file what the files at some paths hold."""


@dataclass(frozen=True)
class Concatenation(Compactor):
    """One file after the other, a delimiter behind each of them."""

    delimiter: bytes = b""

    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        for path in paths:
            with files.open(path) as part:
                shutil.copyfileobj(part, output, 1024 * 1024)
            output.write(self.delimiter)


class IdenticalCopy(Compactor):
    """The contents of a single file as they are."""

    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        if len(paths) > 1:
            raise ValueError("IdenticalFileCompactor can only copy one input file")
        Concatenation().compact(paths, output, files)


@dataclass(frozen=True)
class CompactionStrategy:
    """How many files are made into one.

    Args:
        size_threshold: in bytes; files of a bucket are taken together until they reach it. Negative
            for all of them.
        checkpoints: how many checkpoints' files are taken together; None for no such rule.
        threads: how many files are made at a time.

    Raises:
        ValueError: if there is no rule at all, or one of the numbers is too small.
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
        """Return the files that are made into one, bucket by bucket.

        Returns:
            The groups that have reached the size, and those that more files may be added to.
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
        """Whether a group has waited for enough checkpoints."""
        waited = checkpoint - group[0].checkpoint + 1
        return self.checkpoints is not None and waited >= self.checkpoints

    def _is_full(self, group: list[PendingFile]) -> bool:
        return 0 <= self.size_threshold <= sum(file.size for file in group)


@dataclass(frozen=True)
class Compaction:
    """What a sink does with its finished part files instead of just making them visible."""

    strategy: CompactionStrategy
    compactor: Compactor

    def hold_back(
        self, files: list[PendingFile], checkpoint: int, where: FileSystem = LOCAL
    ) -> tuple[list[PendingFile], list[PendingFile]]:
        """Return the files to commit with a checkpoint, and those that wait for more.

        The latter are called so that nobody takes them for leftovers of a failed attempt.
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
        """Make visible the compacted files; a second time changes nothing.

        Args:
            parts: those of a checkpoint.
            again: whether this was perhaps done before, and somebody has moved the result since.
            files: where they are.
        """
        full, others = self.strategy.groups(parts)
        with ThreadPoolExecutor(self.strategy.threads, "compaction") as threads:
            commit = partial(self._commit_group, again=again, files=files)
            for _done in threads.map(commit, full + others):
                pass

    def _commit_group(self, group: list[PendingFile], again: bool, files: FileSystem) -> None:
        folder, name = os.path.split(group[0].path)
        path = os.path.join(folder, f"compacted-{name}")
        # Parts are removed once the compacted file is there.
        done = again and not all(files.exists(_current_path(part, files)) for part in group)
        if not done and not files.exists(path):
            self._write(group, path, files)
        for part in group:
            part.discard(files)
            with naming(part.path):
                files.remove(_waiting_path(part))

    def _write(self, group: list[PendingFile], path: str, files: FileSystem) -> None:
        hidden = in_progress_path(path)
        output = PendingFile(group[0].bucket, hidden, path, 0)
        try:
            files.remove(hidden)  # what an attempt has left that did not end well
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
