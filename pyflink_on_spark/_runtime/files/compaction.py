"""Making few large files out of many small ones before they become visible."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import BinaryIO

from pyflink_on_spark._runtime.files.part_file import PendingFile, in_progress_path, naming


class Compactor(ABC):
    """Writes the contents of some files into one."""

    @abstractmethod
    def compact(self, paths: list[str], output: BinaryIO) -> None:
        """Write to a file what the files at some paths hold."""


@dataclass(frozen=True)
class Concatenation(Compactor):
    """One file after the other, a delimiter behind each of them."""

    delimiter: bytes = b""

    def compact(self, paths: list[str], output: BinaryIO) -> None:
        for path in paths:
            with open(path, "rb") as part:
                shutil.copyfileobj(part, output, 1024 * 1024)
            output.write(self.delimiter)


class IdenticalCopy(Compactor):
    """The contents of a single file as they are."""

    def compact(self, paths: list[str], output: BinaryIO) -> None:
        if len(paths) > 1:
            raise ValueError("IdenticalFileCompactor can only copy one input file")
        Concatenation().compact(paths, output)


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

    def groups(self, files: Iterable[PendingFile]) -> Iterator[list[PendingFile]]:
        """Yield the files that are made into one, bucket by bucket."""
        buckets: dict[str, list[PendingFile]] = {}
        for file in files:
            group = buckets.setdefault(file.bucket, [])
            group.append(file)
            if self._is_full(group):
                yield buckets.pop(file.bucket)
        yield from buckets.values()

    def _is_full(self, group: list[PendingFile]) -> bool:
        return 0 <= self.size_threshold <= sum(file.size for file in group)


@dataclass(frozen=True)
class Compaction:
    """What a sink does with its finished part files instead of just making them visible."""

    strategy: CompactionStrategy
    compactor: Compactor

    def commit(self, files: list[PendingFile]) -> None:
        """Make visible the compacted files; a second time changes nothing."""
        with ThreadPoolExecutor(self.strategy.threads, "compaction") as threads:
            for _done in threads.map(self._commit_group, self.strategy.groups(files)):
                pass

    def _commit_group(self, group: list[PendingFile]) -> None:
        folder, name = os.path.split(group[0].path)
        path = os.path.join(folder, f"compacted-{name}")
        if not os.path.exists(path):
            self._write(group, path)
        for file in group:
            file.discard()

    def _write(self, group: list[PendingFile], path: str) -> None:
        hidden = in_progress_path(path)
        output = PendingFile(group[0].bucket, hidden, path, 0)
        try:
            with naming(path), open(hidden, "xb") as file:
                self.compactor.compact([part.in_progress_path for part in group], file)
            output.commit()
        except BaseException:
            output.discard()
            raise
