"""The subtasks of one process, and the rows that travel between them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.clock import Clock
from pyflink_on_spark._runtime.task.exchange import ChannelRow, Outlet
from pyflink_on_spark._runtime.task.exchange_writer import FEW_RECEIVERS
from pyflink_on_spark._runtime.task.group_checkpoints import GroupCheckpoints
from pyflink_on_spark._runtime.task.plan import JobSettings, StagePlan
from pyflink_on_spark._runtime.task.progress import TaskProgress
from pyflink_on_spark._runtime.task.schedule import Schedule, Unit
from pyflink_on_spark._runtime.task.snapshot_request import SnapshotRequest
from pyflink_on_spark._runtime.task.source_input import SourceInput
from pyflink_on_spark._runtime.task.subtask import NEVER, Subtask
from pyflink_on_spark._runtime.task.subtask_builder import Ask, Driver, SubtaskIdentity

_TICK_MS = 10
_LEAST_BETWEEN_TICKS = 20
"""The time between two ticks is at least so many times that of a tick."""
_FLUSH_SECONDS = 0.1
_CHANNELS = 1_000
"""With more channels from here buffers have more time to fill up while there is work."""
_MOST_WAITING = 8
_MOST_AT_ONCE = 64
"""How many rows a subtask takes in before their senders are notified."""


class SubtaskGroup:
    """Runs the subtasks of some slots, of all vertices, in turns.

    Args:
        stages: the job's, or some of them that follow each other.
        slots: the indices of the subtasks that are here.
        job: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a subtask's number, what sends to the driver.
        attempt: how often the job was restarted.
        restored: each subtask's share of a checkpoint; None for a fresh start.
        outlet: where rows for other processes go; None if all subtasks are here.
        pickled: whether rows are pickled even if they stay here.
        subtask: the class of the subtasks.
        schedule: says which subtask works next.
        now: the time in seconds; any clock that never goes back.
        ask: asks the driver for splits; None if the driver has none.
    """

    def __init__(
        self,
        stages: Iterable[StagePlan],
        slots: Collection[int],
        job: JobSettings,
        clock: Clock,
        driver: Callable[[int], Driver],
        attempt: int = 0,
        restored: Mapping[int, TaskStateSnapshot] | None = None,
        outlet: Outlet | None = None,
        pickled: bool = False,
        subtask: type[Subtask] = Subtask,
        schedule: Schedule | None = None,
        now: Callable[[], float] = time.monotonic,
        ask: Ask | None = None,
    ) -> None:
        self._clock, self._outlet, self._now = clock, outlet, now
        self._shipped: deque[ChannelRow] = deque()
        self._subtasks: dict[int, Subtask] = {}
        self._opened: list[Subtask] = []
        self._checkpoints = GroupCheckpoints()
        self._foreign: dict[int, list[ChannelRow]] = {}
        stages = list(stages)
        placed = [(depth, each) for depth, stage in enumerate(stages) for each in stage.subtasks()]
        self._beyond = len(stages)
        self._stages = {number: depth for depth, (number, _, _) in placed}
        mine = [each for _, each in placed if each[2] in slots]
        here = set() if pickled else {number for number, _, _ in mine}
        for number, vertex, index in mine:
            state = None if restored is None else restored.get(number)
            identity = SubtaskIdentity(
                vertex, index, job, clock, driver(number), attempt, state, here, ask
            )
            self._subtasks[number] = subtask(identity, self._shipped.append, now)
        self._schedule = Schedule() if schedule is None else schedule
        self._units = {number: Unit(number, self._stages[number]) for number in self._subtasks}
        self._waiting: set[int] = set()
        self._crowded: set[int] = set()
        self._tick_interval: float = _TICK_MS
        channels = sum(subtask.channels_out for subtask in self)
        self._flush_interval = _FLUSH_SECONDS * max(1.0, channels / _CHANNELS)
        self._ticked = clock.now()
        self._flushed = self._now()

    def __iter__(self) -> Iterator[Subtask]:
        """Iterate over the subtasks, upstream first."""
        return iter(self._subtasks.values())

    def open(self) -> None:
        """Open all subtasks, downstream first."""
        for subtask in reversed(self._subtasks.values()):
            self._opened.append(subtask)
            subtask.open()
        for number, subtask in self._subtasks.items():
            for chain in subtask.sources:
                self._schedule.add(Unit(number, self._stages[number], chain))

    # -- work ------------------------------------------------------------------------------------

    def receive(self, row: ChannelRow) -> None:
        """Take a row that came from another process."""
        self._foreign.setdefault(row.subtask_id, []).append(row)
        self._deliver(row, self._schedule.now)

    def turn(self, deadline: float) -> bool:
        """Do some of what there is to do.

        Args:
            deadline: when to end (s), by ``now``; a slow function may take longer.

        Returns:
            Whether anything was done.
        """
        worked = False
        waiting: list[Unit] = []
        stopped: list[Unit] = []
        while self._schedule:
            unit = self._schedule.pick()
            if self._stopped(unit):
                stopped.append(unit)
            elif self._run(unit, deadline):
                worked = True
                self._schedule.add_all(stopped)  # a checkpoint may be through
            elif unit.chain is None or self._source(unit).reading:
                waiting.append(unit)
            if self._now() >= deadline:
                break
        self._schedule.add_idle(waiting)
        self._schedule.add_all(stopped)
        if self._tick_due:
            self.tick()
        if not worked:
            self._when_idle()
        return worked or self.busy

    @property
    def busy(self) -> bool:
        """Whether something waits to be processed."""
        return bool(self._waiting)

    @property
    def reading(self) -> bool:
        """Whether a source has not ended."""
        return any(subtask.reading for subtask in self)

    @property
    def paused(self) -> bool:
        """Whether all sources that have not ended read nothing before the next checkpoint."""
        reading = False
        for source in (source for subtask in self for source in subtask.sources.values()):
            if source.reading:
                if not source.paused:
                    return False
                reading = True
        return reading and not self.busy

    @property
    def ended(self) -> bool:
        """Whether all subtasks have processed all their input."""
        return not self.busy and all(subtask.ended for subtask in self)

    def tick(self, omitted: int | None = None) -> None:
        """Let what is due by processing time fire everywhere, but in a subtask that is omitted."""
        self._ticked, begun = self._clock.now(), self._now()
        for number, subtask in self._subtasks.items():
            if number != omitted:
                subtask.tick()
                if subtask.follows_clock:
                    self._note_work(number, subtask)
        took = 1000 * (self._now() - begun)
        self._tick_interval = max(_TICK_MS, _LEAST_BETWEEN_TICKS * took)
        self._route(self._schedule.now)

    def flush(self) -> None:
        """Send everything that waits in buffers."""
        self._flushed = self._now()
        for subtask in self:
            subtask.flush()
        self._route(self._schedule.now)

    def settle(self) -> None:
        """Fire what is due, and process everything that waits anywhere; reads no source."""
        self.tick()
        for subtask in self:
            self._work_off()
            subtask.prepare_barrier()  # waits for calls that are in flight
        self._work_off()

    def _work_off(self) -> None:
        self.flush()
        while self._waiting:
            number = min(self._waiting, key=lambda number: -self._stages[number])
            self._work(self._units[number], NEVER)
            if not self._waiting:
                self.flush()

    def end_sources(self) -> None:
        """Read no further, as if all sources had ended."""
        for number, subtask in self._subtasks.items():
            subtask.end_sources()
            self._note_work(number, subtask)

    def _source(self, unit: Unit) -> SourceInput:
        assert unit.chain is not None
        return self._subtasks[unit.subtask_id].sources[unit.chain]

    def _stopped(self, unit: Unit) -> bool:
        """Whether a source is not read, because of a checkpoint."""
        if unit.chain is None:
            return False
        barrier = self._subtasks[unit.subtask_id].alignment.aligned
        return self._checkpoints.halted or barrier is not None or self._source(unit).paused

    def _run(self, unit: Unit, deadline: float) -> bool:
        """Let a unit work; tell whether there was anything to do, and it could be done."""
        if self._held_up(unit.stage):
            self._subtasks[unit.subtask_id].activity.held_up(self._now())
            return False
        if unit.chain is None:
            self._work(unit, deadline)
            return True
        subtask, source = self._subtasks[unit.subtask_id], self._source(unit)
        if not source.reading:
            return False
        if subtask.busy:
            self._schedule.put_back(unit)
            self._work(self._units[unit.subtask_id], deadline)
            return True
        begun = self._now()
        found, more = subtask.poll(unit.chain)
        if found:
            subtask.work(deadline)
            self._spend(unit, subtask, begun)
            self._follow_up(unit, subtask, more)
            if source.reading:
                self._schedule.add(unit)
        return bool(found)

    def _work(self, unit: Unit, deadline: float) -> None:
        """Process what came in up to the unit's virtual time."""
        subtask, begun = self._subtasks[unit.subtask_id], self._now()
        rows: Iterable[ChannelRow] = ()
        if not subtask.busy:
            until = NEVER if deadline == NEVER else unit.time
            rows = islice(unit.rows.take(until), _MOST_AT_ONCE)
        subtask.work(deadline, rows)
        if len(unit.rows.waiting) <= _MOST_WAITING:
            self._crowded.discard(unit.subtask_id)
        self._spend(unit, subtask, begun)
        self._follow_up(unit, subtask)

    def _spend(self, unit: Unit, subtask: Subtask, begun: float) -> None:
        ended = self._now()
        activity, took = subtask.activity, ended - begun
        activity.busy += took
        if activity.held_since is not None:
            activity.released(begun)
        self._schedule.spend(unit, took)

    def _follow_up(self, unit: Unit, subtask: Subtask, more: bool = False) -> None:
        """Follow up on the work of a subtask.

        What the clock has made due while a slow function worked comes before what the function has
        brought forth.
        """
        number = unit.subtask_id
        if not subtask.busy:
            self._note_consumed(number)
            self._pass_barriers(number, subtask)
            if not more and subtask.fan_out <= FEW_RECEIVERS:
                subtask.flush()
        self._note_work(number, subtask)
        if self._tick_due:
            brought_forth = list(self._shipped)
            self._shipped.clear()
            self.tick(omitted=number)
            self._shipped.extend(brought_forth)
            self._route(unit.time)
            subtask.tick()
            self._note_work(number, subtask)
        self._route(unit.time)
        if self._now() - self._flushed >= self._flush_interval:
            self.flush()

    def _note_work(self, number: int, subtask: Subtask) -> None:
        """Schedule a subtask if something waits there."""
        unit = self._units[number]
        if subtask.busy or unit.rows.waiting:
            self._waiting.add(number)
            self._schedule.add(unit)
        else:
            self._waiting.discard(number)

    def _held_up(self, stage: int) -> bool:
        """Whether what would be sent has to wait, since those downstream have too much to do."""
        if self._outlet is not None and self._outlet.congested(stage + 1):
            return True
        crowded = self._crowded
        return bool(crowded) and any(self._stages[number] > stage for number in crowded)

    def _when_idle(self) -> None:
        """Hold nothing back: more may not come for long."""
        if not self._checkpoints.halted:
            self.tick()
        self.flush()

    @property
    def _tick_due(self) -> bool:
        if self._checkpoints.halted:
            return False
        return not 0 <= self._clock.now() - self._ticked < self._tick_interval

    def _route(self, arrival: float) -> None:
        """Send what was shipped to where it belongs.

        Args:
            arrival: the virtual time (s) at which it gets there.
        """
        shipped = self._shipped
        while shipped:
            row = shipped.popleft()
            if row.subtask_id in self._subtasks:
                self._deliver(row, arrival)
            else:
                assert self._outlet is not None
                self._outlet.send(row, self._stages.get(row.subtask_id, self._beyond))

    def _deliver(self, row: ChannelRow, arrival: float) -> None:
        unit = self._units[row.subtask_id]
        self._waiting.add(row.subtask_id)
        self._schedule.deliver(unit, row, arrival)
        if len(unit.rows.waiting) > _MOST_WAITING:
            self._crowded.add(row.subtask_id)

    def _note_consumed(self, number: int) -> None:
        """Tell of the rows from elsewhere that are processed, also while others wait.

        Rows from here may wait at all times. If they held this up, the senders elsewhere would
        stand still, and event time with them.
        """
        foreign = self._foreign.pop(number, None)
        if self._outlet is None or not foreign:
            return
        waiting = {id(row) for _, _, row in self._units[number].rows.waiting}
        left = [row for row in foreign if id(row) in waiting] if waiting else []
        for row in foreign:
            if id(row) not in waiting:
                self._outlet.consumed(row, self._stages[number])
        if left:
            self._foreign[number] = left

    def add_splits(
        self, subtask_id: int, chain: int, splits: Sequence[Any], *, at_once: bool
    ) -> None:
        """Give splits to the source that asked for them."""
        self._subtasks[subtask_id].sources[chain].add_splits(splits, at_once=at_once)

    # -- checkpoints -----------------------------------------------------------------------------

    def begin_checkpoint(self, request: SnapshotRequest) -> None:
        """Take part in a checkpoint; ``request.done`` says when all subtasks have."""
        self._checkpoints.begin(request, len(self._subtasks))
        for number, subtask in self._subtasks.items():
            subtask.trigger(request.checkpoint_id)
            if not subtask.busy:
                self._pass_barriers(number, subtask)
        self._route(self._schedule.now)

    def abort_checkpoint(self, checkpoint_id: int) -> None:
        """Write nothing more of a checkpoint; barriers that are under way pass."""
        self._checkpoints.abort(checkpoint_id)

    def read_on(self) -> None:
        """Read sources again after a checkpoint that has halted them."""
        self._checkpoints.halted = False

    def pass_barriers_on(self, checkpoint_id: int) -> None:
        """Send the barriers of a checkpoint, of subtasks that have ended and are closed."""
        for subtask in self:
            subtask.send_barrier(checkpoint_id)
        self._route(self._schedule.now)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint is complete."""
        self._checkpoints.take_prepared()
        for subtask in self:
            subtask.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint was aborted."""
        for subtask in self:
            subtask.notify_checkpoint_aborted(checkpoint_id)

    def _pass_barriers(self, number: int, subtask: Subtask) -> None:
        if subtask.alignment.aligned is not None and self._checkpoints.pass_barriers(subtask):
            self._note_work(number, subtask)

    # -- the end ---------------------------------------------------------------------------------

    @property
    def prepared(self) -> list[Any]:
        """What the driver has to commit, of all since the last complete checkpoint."""
        return self._checkpoints.prepared

    def committables(self) -> list[Any]:
        """Return, once, what the driver has to commit: pairs of a sink's number and a thing."""
        return [
            *self._checkpoints.take_prepared(),
            *(item for subtask in self for item in subtask.committables()),
        ]

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

    def progress(self) -> list[TaskProgress]:
        """Return how far each chain of each subtask is."""
        return [part for subtask in self for part in subtask.progress()]
