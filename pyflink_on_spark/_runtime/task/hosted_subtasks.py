"""Subtasks that live as long as an attempt of a job does, worked off epoch by epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.clock import Clock
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.exchange import Row
from pyflink_on_spark._runtime.task.plan import JobSettings, StagePlan, VertexPlan
from pyflink_on_spark._runtime.task.progress import TaskProgress
from pyflink_on_spark._runtime.task.source_turns import SourceTurns
from pyflink_on_spark._runtime.task.subtask import Driver, Subtask

_OUTPUT_LIMIT = 32 * 1024 * 1024
_PAUSE = 0.002


@dataclass(frozen=True)
class EpochReport:
    """How a subtask has come through an epoch.

    Args:
        reading: whether one of its sources may still bring something.
        elements: how many elements its sources brought.
        behind: whether the time to read was over before its sources were read up to now.
        progress: how far its tasks are.
    """

    reading: bool
    elements: int = 0
    behind: bool = False
    progress: tuple[TaskProgress, ...] = ()


def slot_of(level: StagePlan, target: int) -> tuple[VertexPlan, int]:
    """Return the region of a target, and which of its subtasks it is.

    Raises:
        KeyError: if the level has no such target.
    """
    for region in level.regions:
        index = target - region.first_target
        if 0 <= index < region.parallelism:
            return region, index
    raise KeyError(target)


class HostedSubtasks:
    """The subtasks of one slot: those with one index, of all regions.

    In an epoch all levels are worked off, one after the other. So between two epochs no element is
    under way, and what the subtasks are then is a consistent snapshot of the job.

    Args:
        levels: the job's.
        slot: the index of the subtasks.
        job: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a subtask's target, what sends to the driver.
        attempt: how often the job was restarted.
        restored: each target's share of a checkpoint; empty for a fresh start.
    """

    def __init__(
        self,
        levels: Iterable[StagePlan],
        slot: int,
        job: JobSettings,
        clock: Clock,
        driver: Callable[[int], Driver],
        attempt: int = 0,
        restored: Mapping[int, TaskStateSnapshot] | None = None,
    ) -> None:
        self._subtasks: dict[int, Subtask] = {}
        self._epochs: dict[int, int] = {}
        self._opened: list[Subtask] = []
        self._turns: dict[int, SourceTurns] = {}
        for level in levels:
            for region in level.regions:
                if slot < region.parallelism:
                    target = region.first_target + slot
                    state = None if restored is None else restored.get(target)
                    subtask = Subtask(region, slot, job, clock, driver(target), attempt, state)
                    self._subtasks[target] = subtask
                    self._turns[target] = SourceTurns(subtask, job.epoch_elements)

    def open(self) -> None:
        """Open all subtasks, downstream first."""
        for subtask in reversed(self._subtasks.values()):
            self._opened.append(subtask)
            subtask.open()

    def begin(self, target: int, epoch: int) -> None:
        """Begin a subtask's part of an epoch.

        Raises:
            RuntimeError: if that was begun before: what Spark does a second time would be there
                twice, so the attempt has to end.
        """
        if self._epochs.get(target, -1) >= epoch:
            raise RuntimeError(f"epoch {epoch} of subtask {target} was begun before")
        self._epochs[target] = epoch

    def poll(
        self, targets: Iterable[int], seconds: float, draining: bool = False
    ) -> Iterator[list[Row]]:
        """Wait for elements, then read those that are there, in turns; yield what leaves.

        Args:
            targets: the subtasks.
            seconds: how long at most, for all of them together.
            draining: whether sources that never end shall end now.
        """
        turns = [self._turns[target] for target in targets]
        for each in turns:
            each.begin(draining)
        size = 0
        deadline = time.monotonic() + seconds
        while active := [each for each in turns if each.more]:
            found = 0
            for each in active:
                found += each.take()
                rows = each.subtask.take_rows()
                if rows:
                    size += sum(len(row.payload) for row in rows)
                    yield rows
            if not found:
                if any(each.elements for each in turns):
                    for each in active:
                        each.behind = False
                    return
                time.sleep(_PAUSE)
            if time.monotonic() >= deadline or size >= _OUTPUT_LIMIT:
                return

    def receive(self, target: int, rows: Iterable[Row]) -> list[Row]:
        """Work off rows; return those that leave."""
        subtask = self._subtasks[target]
        for row in rows:
            subtask.receive(row)
        return subtask.take_rows()

    def finish(self, target: int) -> tuple[list[Row], EpochReport]:
        """End a subtask's part of an epoch: fire what is due by the clock, send what waits."""
        subtask = self._subtasks[target]
        subtask.end_epoch()
        elements, behind = self._turns[target].end()
        return subtask.take_rows(), EpochReport(
            subtask.reading, elements, behind, tuple(subtask.progress())
        )

    def snapshot(
        self, checkpoint_id: int, taken: Callable[[KeyedStateBackend], Any] | None = None
    ) -> tuple[dict[int, TaskStateSnapshot], list[Any]]:
        """Return the state of all subtasks, and what the driver has to commit with it.

        Args:
            checkpoint_id: the checkpoint's number.
            taken: what is taken of keyed state; everything if nothing is said.
        """
        states = {
            t: subtask.snapshot(checkpoint_id, taken) for t, subtask in self._subtasks.items()
        }
        return states, self.committables()

    def committables(self) -> list[Any]:
        """Return, once, what the driver has to commit: pairs of a sink's number and a thing."""
        return [item for subtask in self._subtasks.values() for item in subtask.committables()]

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Tell all subtasks that a checkpoint is safe."""
        for subtask in self._subtasks.values():
            subtask.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Tell all subtasks that a checkpoint was given up."""
        for subtask in self._subtasks.values():
            subtask.notify_checkpoint_aborted(checkpoint_id)

    def close(self, failed: bool = False) -> None:
        """Close all subtasks that were opened."""
        while self._opened:
            self._opened.pop().close(failed)
