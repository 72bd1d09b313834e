"""Partitions of a table of files are committed: they get a file that says they are complete.

A writer reports at each checkpoint which partitions it has begun or finished, and how far its time
is. Both are committables. A partition that is not due comes again with the next checkpoint, so that
it is part of each checkpoint until it is committed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._connectors.files.config import FileSinkConfig
from pyflink_on_spark._connectors.files.part_file import InProgressFile, PendingFile
from pyflink_on_spark._connectors.files.writer import FileSinkWriter
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._sql.tables.connectors.filesystem.partition_time import PartitionTime
from pyflink_on_spark._sql.tables.connectors.filesystem.sink import TableFileSink


@dataclass(frozen=True)
class Reached:
    """How far the time of a writer is at a checkpoint: a committable.

    Args:
        watermark: event time in ms.
        now: processing time in ms.
    """

    watermark: int
    now: int


@dataclass(frozen=True)
class Partition:
    """A partition that a writer has begun or finished: a committable.

    Args:
        name: its folder below that of the table.
        folder: the path of its folder.
        begun: the processing time when the writer has begun it, in ms.
    """

    name: str
    folder: str
    begun: int


class CommitTrigger(ABC):
    """Says when a partition is complete. Picklable."""

    @abstractmethod
    def is_due(self, name: str, begun: int, reached: Reached) -> bool:
        """Tell whether a partition is complete.

        Args:
            name: its folder below that of the table.
            begun: the processing time when it was begun, in ms.
            reached: how far time is.
        """


@dataclass(frozen=True)
class ProcessingTimeTrigger(CommitTrigger):
    """A partition is complete some time after it was begun; without a delay at each checkpoint.

    Args:
        delay: in ms.
    """

    delay: int

    def is_due(self, name: str, begun: int, reached: Reached) -> bool:
        return self.delay == 0 or reached.now > begun + self.delay


@dataclass(frozen=True)
class PartitionTimeTrigger(CommitTrigger):
    """A partition is complete when the watermark has passed its time and a delay.

    Args:
        delay: in ms.
        time: reads the time of a partition.
    """

    delay: int
    time: PartitionTime

    def is_due(self, name: str, begun: int, reached: Reached) -> bool:
        return reached.watermark > self.time.read(name) + self.delay


@dataclass(frozen=True)
class PartitionedConfig(FileSinkConfig):
    """The settings of a sink that commits partitions.

    Args:
        trigger: says when a partition is complete.
        marker: the name of the file that a complete partition gets.
    """

    trigger: CommitTrigger = field(default_factory=lambda: ProcessingTimeTrigger(0))
    marker: str = "_SUCCESS"


class PartitionWriter(FileSinkWriter):
    """Finishes the part files of partitions that are complete, and reports partitions."""

    _config: PartitionedConfig

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._watermark = MIN_TIMESTAMP
        self._begun: dict[str, int] = {}
        """When partitions were begun whose part files may still be open."""
        self._unreported: set[str] = set()

    def advance_watermark(self, watermark: int) -> None:
        self._watermark = watermark

    def restore(self, snapshots: Sequence[InProgressFile]) -> None:
        super().restore(snapshots)
        for saved in snapshots:
            self._begun[saved.bucket] = min(saved.created, self._begun[saved.bucket])

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        reached = Reached(self._watermark, self._clock.now())
        begun = dict(self._begun)
        for name, since in begun.items():
            if self._config.trigger.is_due(name, since, reached):
                self._buckets[name].roll()
        return [*super().prepare_checkpoint(checkpoint_id), *self._reported(begun), reached]

    def prepare_commit(self) -> list[Any]:
        begun = dict(self._begun)
        reached = Reached(self._watermark, self._clock.now())
        return [*super().prepare_commit(), *self._reported(begun), reached]

    def _reported(self, begun: dict[str, int]) -> list[Partition]:
        """Return the partitions that are new, and those without an open part file by now."""
        finished = {name for name in begun if self._is_idle(name)}
        for name in finished:
            del self._begun[name]
        names = sorted(self._unreported | finished)
        self._unreported.clear()
        return [Partition(name, self._folder(name), begun[name]) for name in names]

    def _is_idle(self, name: str) -> bool:
        bucket = self._buckets.get(name)
        return bucket is None or bucket.idle

    def _bucket(self, name: str) -> Any:
        if name not in self._begun:
            self._begun[name] = self._clock.now()
            self._unreported.add(name)
        return super()._bucket(name)


class PartitionSink(TableFileSink):
    """Commits partitions after their part files."""

    writer_class = PartitionWriter
    holds_again = True
    _config: PartitionedConfig

    def hold_back(self, committables: list[Any], checkpoint_id: int) -> tuple[list[Any], list[Any]]:
        ready, held = super().hold_back(_files(committables), checkpoint_id)
        moments, partitions = _moments(committables), _partitions(committables)
        due = self._due(partitions, moments)
        now = [*ready, *moments, *(partitions[name] for name in due)]
        return now, [*held, *(partitions[name] for name in partitions.keys() - due)]

    def _due(self, partitions: dict[str, Partition], moments: list[Reached]) -> set[str]:
        """Return the partitions that are complete: all of them if the input has ended."""
        if not moments:
            return set()
        watermark = min(moment.watermark for moment in moments)
        if watermark >= MAX_WATERMARK:
            return set(partitions)
        reached = Reached(watermark, max(moment.now for moment in moments))
        is_due = self._config.trigger.is_due
        return {name for name, each in partitions.items() if is_due(name, each.begun, reached)}

    def keep(self, committables: list[Any]) -> None:
        super().keep([each for each in committables if not isinstance(each, Partition | Reached)])

    def commit(self, committables: list[Any]) -> None:
        super().commit(_files(committables))
        self._mark(committables)

    def commit_again(self, committables: list[Any]) -> None:
        super().commit_again(_files(committables))
        self._mark(committables)

    def abort(self, committables: list[Any]) -> None:
        super().abort(_files(committables))

    def _mark(self, committables: list[Any]) -> None:
        """Mark partitions as complete, but not all of a job that stops before its input ends."""
        partitions, moments = _partitions(committables), _moments(committables)
        due = self._due(partitions, moments) if moments else partitions.keys()
        for name in sorted(due):
            self._put_marker(partitions[name].folder, self._config.marker)


def _moments(committables: Iterable[Any]) -> list[Reached]:
    return [each for each in committables if isinstance(each, Reached)]


def _files(committables: Iterable[Any]) -> list[PendingFile]:
    return [each for each in committables if isinstance(each, PendingFile)]


def _partitions(committables: Iterable[Any]) -> dict[str, Partition]:
    """Return partitions by name; of those that several writers report the one begun first."""
    found: dict[str, Partition] = {}
    for each in committables:
        if isinstance(each, Partition):
            known = found.setdefault(each.name, each)
            if each.begun < known.begun:
                found[each.name] = each
    return found
