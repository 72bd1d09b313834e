"""All subtasks of a job side by side in this process, and the rows that travel between them."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    SlotState,
    shares,
    stateful_operators,
)
from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.clock import Clock
from pyflink_on_spark._runtime.immutability import deserialize, serialize
from pyflink_on_spark._runtime.task.exchange import Row
from pyflink_on_spark._runtime.task.plan import JobSettings, StagePlan, VertexPlan
from pyflink_on_spark._runtime.task.subtask import Driver, Subtask


class TaskGroup:
    """The subtasks of a job.

    Args:
        levels: what runs.
        settings: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a channel's name, what sends to the driver.
        restored: what ``snapshot`` of such a group returned; None for a fresh start.
        subtask: what makes a subtask.
        attempt: how often the job was restarted.
        check: called between two bundles; what it raises ends the work.
    """

    def __init__(
        self,
        levels: Sequence[StagePlan],
        settings: JobSettings,
        clock: Clock,
        driver: Driver,
        restored: bytes | None = None,
        subtask: type[Subtask] = Subtask,
        attempt: int = 0,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        regions = [region for level in levels for region in level.regions]
        states = {} if restored is None else _states(levels, regions, restored)
        self._check = check
        self._opened: list[Subtask] = []
        self._subtasks: dict[int, Subtask] = {}
        self._indices: dict[int, int] = {}
        for region in regions:
            for index in range(region.parallelism):
                target = region.first_target + index
                own: JobSettings = pickle.loads(pickle.dumps(settings))
                self._indices[target] = index
                made = subtask(region, index, own, clock, driver, attempt, states.get(target))
                made.limit = min(made.limit, own.epoch_elements or BUNDLE_SIZE)
                self._subtasks[target] = made

    def __iter__(self) -> Iterator[Subtask]:
        """Iterate over the subtasks, upstream first."""
        return iter(self._subtasks.values())

    def open(self) -> None:
        """Open all subtasks, downstream first."""
        for subtask in reversed(self._subtasks.values()):
            self._opened.append(subtask)
            subtask.open()

    @property
    def reading(self) -> bool:
        """Whether a source has not ended."""
        return any(subtask.reading for subtask in self)

    def turn(self) -> int:
        """Work off what each source has next; return how many elements and events it was."""
        count = 0
        for subtask in self:
            self._check()
            if subtask.reading:
                count += subtask.poll_sources()
            else:
                subtask.tick()
            self._work_off(subtask)
        return count

    def settle(self) -> None:
        """Fire what is due, and work off everything that waits anywhere."""
        for subtask in self:
            subtask.end_epoch()
            self._work_off(subtask)

    def snapshot(self, checkpoint_id: int) -> bytes:
        """Return the states of all subtasks; nothing may be under way."""
        whole = SlotState()
        for target, subtask in self._subtasks.items():
            whole.add(self._indices[target], subtask.snapshot(checkpoint_id))
        return serialize((checkpoint_id, whole.to_bytes()))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Tell all subtasks that a checkpoint is safe."""
        for subtask in self:
            subtask.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Tell all subtasks that a checkpoint was given up."""
        for subtask in self:
            subtask.notify_checkpoint_aborted(checkpoint_id)

    def committables(self) -> list[tuple[int, Any]]:
        """Return, once, what is to be committed: pairs of a sink's number and a committable."""
        return [deserialize(serialize(item)) for subtask in self for item in subtask.committables()]

    def close(self, failed: bool = False) -> None:
        """Close all subtasks that were opened, upstream first; raise the first failure to do so."""
        error: Exception | None = None
        while self._opened:
            try:
                self._opened.pop().close(failed)
            except Exception as cause:  # noqa: BLE001 - the others have to be closed as well
                error = error or cause
        if error is not None:
            raise error

    def _work_off(self, sender: Subtask) -> None:
        rows: deque[Row] = deque(sender.take_rows())
        while rows:
            self._check()
            row = rows.popleft()
            receiver = self._subtasks[row.target]
            receiver.receive(row)
            rows += receiver.take_rows()


def _states(
    levels: Sequence[StagePlan], regions: Sequence[VertexPlan], restored: bytes
) -> dict[int, TaskStateSnapshot]:
    """Return each subtask's share of a snapshot, by target."""
    checkpoint_id, content = deserialize(restored)
    whole = SlotState.from_bytes(content)
    _check_key_groups(regions, whole)
    slots = max(region.parallelism for region in regions)
    return {
        target: state
        for slot in range(slots)
        for target, state in shares(levels, slot, whole, checkpoint_id).items()
    }


def _check_key_groups(regions: Sequence[VertexPlan], whole: SlotState) -> None:
    before = stateful_operators(whole)
    plans = (plan for r in regions for segment in r.segments for plan in segment.operators)
    for plan in plans:
        count = before.get(plan.state_id or "", plan.max_parallelism)
        if count != plan.max_parallelism:
            raise ValueError(
                f"{plan.name}: the maximum parallelism cannot be changed from {count} to "
                f"{plan.max_parallelism}, since keyed state is kept by key group"
            )
