"""The subtasks of one process, and the rows that travel between them."""

from __future__ import annotations

import itertools
import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._options import own
from pyflink_on_spark._runtime.checkpoints.slot_state import TaskStateSnapshot
from pyflink_on_spark._runtime.contract.plan import JobSettings, StagePlan
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.task.barriers import GroupCheckpoints, SharedInputs, SnapshotRequest
from pyflink_on_spark._runtime.task.exchange_writer import (
    FEW_RECEIVERS,
    ChannelRow,
    FanOut,
    Outlet,
)
from pyflink_on_spark._runtime.task.schedule import Places, RunQueueEntry, Schedule, SourceInput
from pyflink_on_spark._runtime.task.subtask import NEVER, Subtask
from pyflink_on_spark._runtime.task.subtask_builder import Ask, SubtaskContext
from pyflink_on_spark._runtime.task.subtask_threads import (
    PIECE_SECONDS,
    TICK_MS,
    PartThreads,
    SubtaskThreads,
    TaskProgress,
    ThreadUsage,
    Usage,
    close_row,
    name_of,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import DriverChannels


_LEAST_BETWEEN_TICKS = 20
"""The time between two ticks is at least so many times that of a tick."""
_FLUSH_SECONDS = 0.1
_CHANNELS = 1_000
"""With more channels from here buffers have more time to fill up while there is work."""
_DEPTHS = 10_000
"""More than the chains that follow each other in a stage."""
_FIRST_PART = 1 << 32
"""The number of the first part of a subtask that is no subtask of the job."""
_MOST_WAITING = 8
_MOST_AT_ONCE = 64
"""How many events a subtask takes in before their senders are notified."""
_log = logging.getLogger(__name__)


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
        usage: tells what the thread that asks uses; None if nobody can tell, so that no function
            is seen to wait.
        threads: those of parts whose functions wait; None if all share the group's.
        shares: whether event time is combined once for all parts where each sender reaches them.
            If not, each part combines it itself, and ``Subtask.save_time`` has all of it.
    """

    def __init__(
        self,
        stages: Iterable[StagePlan],
        slots: Collection[int],
        job: JobSettings,
        clock: Clock,
        driver: Callable[[int], DriverChannels],
        attempt: int = 0,
        restored: Mapping[int, TaskStateSnapshot] | None = None,
        outlet: Outlet | None = None,
        pickled: bool = False,
        subtask: type[Subtask] = Subtask,
        schedule: Schedule | None = None,
        now: Callable[[], float] = time.monotonic,
        ask: Ask | None = None,
        usage: ThreadUsage | None = None,
        threads: SubtaskThreads | None = None,
        shares: bool = True,
    ) -> None:
        self._clock, self._outlet, self._now = clock, outlet, now
        self._shipped: deque[ChannelRow | FanOut] = deque()
        self._subtasks: dict[int, Subtask] = {}
        self._parts: dict[int, Subtask] = {}
        self._elsewhere: dict[tuple[int, int], int] = {}
        self._opened: list[Subtask] = []
        self._checkpoints = GroupCheckpoints()
        stages = list(stages)
        placed = [(depth, each) for depth, stage in enumerate(stages) for each in stage.subtasks()]
        self._beyond = len(stages)
        self._stages = {number: depth for depth, (number, _, _) in placed}
        mine = [each for _, each in placed if each[2] in slots]
        here = set() if pickled else {number for number, _, _ in mine}
        for number, vertex, index in mine:
            state = None if restored is None else restored.get(number)
            identity = SubtaskContext(
                vertex, index, job, clock, driver(number), attempt, state, here, ask, shares
            )
            self._subtasks[number] = subtask(identity, self._shipped.append, now)
        self._schedule = Schedule() if schedule is None else schedule
        self._units: dict[int, RunQueueEntry] = {}
        self._places = Places(stages)
        self._numbers = itertools.count(_FIRST_PART)
        self._inputs = SharedInputs(
            self._schedule, self._units, self._numbers, self._deliver, self._delivered
        )
        where = own.WAITING_FUNCTIONS.read(job.configuration) if threads else "INLINE"
        usage = usage if where == "AUTO" else None
        threads = threads or SubtaskThreads()
        self._threads = PartThreads(threads, usage, self._shipped, now, clock)
        self._in_flight = self._threads.in_flight
        self._progress: dict[int, list[TaskProgress]] = {}
        for number, whole in self._subtasks.items():
            self._divide(number, whole)
            part_of = partial(self._part_of, number)
            self._inputs.share(whole.identity.vertex, part_of)
        if where == "THREAD":
            for number in list(self._parts):
                for part in self._cut(number):
                    self._threads.give(part, self._parts[part])
        self._idle_units = 0
        self._with_input: set[int] = set()
        self._tick_interval: float = TICK_MS
        channels = sum(subtask.channels_out for subtask in self)
        self._flush_interval = _FLUSH_SECONDS * max(1.0, channels / _CHANNELS)
        self._ticked = clock.now()
        self._flushed = self._now()

    def __iter__(self) -> Iterator[Subtask]:
        """Iterate over the subtasks, upstream first."""
        return iter(self._subtasks.values())

    @property
    def numbers(self) -> list[int]:
        """The numbers of the parts of subtasks that work side by side."""
        return list(self._parts)

    def open(self) -> None:
        """Open all subtasks, downstream first."""
        for subtask in reversed(self._subtasks.values()):
            self._opened.append(subtask)
            subtask.open()
        for number, subtask in self._parts.items():
            for chain in subtask.sources:
                self._schedule.add(RunQueueEntry(number, self._units[number].depth, chain))

    def _divide(self, number: int, whole: Subtask) -> None:
        """Let each chain of a subtask work as if it was a subtask."""
        first = whole.identity.vertex.first_subtask_id
        numbers = [number, *(next(self._numbers) for _ in whole.depths[1:])]
        for place, (each, part) in enumerate(whole.divide(numbers.__getitem__).items()):
            self._parts[each] = part
            stage = self._stages[each] = self._stages[number]
            self._units[each] = RunQueueEntry(each, stage + whole.depths[place] / _DEPTHS)
            self._places.put(each, (first, place))
            if each != number:
                for channel in part.channels_in:
                    self._elsewhere[number, channel] = each

    # -- work ------------------------------------------------------------------------------------

    def receive(self, row: ChannelRow | FanOut) -> None:
        """Take what came from another process: a row, or an event for all its receivers here.

        What waits for a barrier is acknowledged at once: its sender may have to send that barrier.
        """
        now = self._schedule.now
        if isinstance(row, FanOut):
            number = self._inputs.part_of(row.channel)
            delivered = self._inputs.take(row, now)
            if delivered is not None:
                self._units[delivered.subtask_id].rows.foreign[id(delivered)] = row
                return
        else:
            number = self._part_of(row.subtask_id, row.channel)
            if self._inputs.admit(row, now) is not None:
                self._units[number].rows.foreign[id(row)] = row
                self._deliver(row, now)
                return
        if self._outlet is not None:
            self._outlet.consumed(row, self._stages[number])

    def shares(self, channel: int) -> bool:
        """True if barriers on a channel come for all its receivers at once."""
        return channel in self._inputs

    def turn(self, deadline: float) -> bool:
        """Do some of the waiting work.

        Args:
            deadline: when to end (s), by ``now``; a slow function may take longer.

        Returns:
            Whether anything was done, or is to be done at once.
        """
        worked = bool(self._in_flight) and self._land_all()
        waiting: list[RunQueueEntry] = []
        stopped: list[RunQueueEntry] = []
        while self._schedule:
            if self._attend(self._schedule.pick(), deadline, waiting, stopped):
                worked = True
                self._schedule.add_all(stopped)  # a checkpoint may be through
            if self._now() >= deadline:
                break
        self._idle_units = 0 if worked else self._idle_units + len(waiting) + len(stopped)
        self._schedule.add_idle(waiting)
        self._schedule.add_all(stopped)
        missed = not worked and self._idle_units < len(self._schedule)
        self._help_waiting()
        if self._in_flight and not worked and not self._threads.wakes:
            worked = self._land_all(deadline - self._now())
        if self._tick_due:
            self.tick()
        if missed:  # at the deadline some units had not had their turn
            return True
        if not worked:
            self._idle_units = 0
            self._when_idle()
        if self._in_flight and self._threads.wakes:
            return worked  # whatever else there was to do is done
        return worked or self.busy

    def _attend(
        self,
        unit: RunQueueEntry,
        deadline: float,
        waiting: list[RunQueueEntry],
        stopped: list[RunQueueEntry],
    ) -> bool:
        """Let a unit have its turn; tell whether there was anything to do."""
        if unit.subtask_id in self._in_flight:
            self._threads.park(unit)
            return self._land_all()
        if self._stopped(unit):
            stopped.append(unit)
        elif self._run(unit, deadline):
            return True
        elif unit.chain is None or self._source(unit).reading:
            waiting.append(unit)
        return bool(self._in_flight) and self._land_all()

    @property
    def busy(self) -> bool:
        """True if elements wait, or are being processed."""
        return bool(self._with_input or self._in_flight)

    @property
    def reading(self) -> bool:
        """True if a source has not ended."""
        return any(part.reading for part in self._parts.values())

    @property
    def paused(self) -> bool:
        """True if all sources that have not ended read nothing before the next checkpoint."""
        reading = False
        for source in self._sources():
            if source.reading:
                if not source.paused:
                    return False
                reading = True
        return reading and not self.busy

    @property
    def ended(self) -> bool:
        """True once all subtasks have processed all their input."""
        return not self.busy and all(part.ended for part in self._parts.values())

    def tick(self, omitted: int | None = None) -> None:
        """Fire timers due by processing time in all subtasks, except one that is omitted."""
        self._ticked, begun = self._clock.now(), self._now()
        for number, subtask in self._parts.items():
            if number in self._threads:
                self._threads.tick(self._units[number], subtask)
            elif number != omitted:
                if not subtask.follows_clock:
                    subtask.tick()
                    continue
                since, used = self._now(), self._threads.used()
                activity = subtask.activity
                activity.working_since = since
                subtask.tick()
                activity.working_since = None
                activity.busy += self._now() - since
                self._threads.notice(number, since, used)
                self._note_work(number, subtask)
        took = 1000 * (self._now() - begun)
        self._tick_interval = max(TICK_MS, _LEAST_BETWEEN_TICKS * took)
        self._route(self._schedule.now)

    def next_processing_time(self) -> int | None:
        """Return when (ms) the clock may have an effect next, unless an element comes before.

        It is asked between two checkpoints, when no part works in a thread.
        """
        times = [part.next_processing_time() for part in self._parts.values()]
        return min((time for time in times if time is not None), default=None)

    def flush(self) -> None:
        """Send everything that waits in buffers."""
        self._flushed = self._now()
        for number, part in self._parts.items():
            if number not in self._in_flight:
                part.flush()
                self._threads.take_shipped(number)
        self._route(self._schedule.now)

    def settle(self) -> None:
        """Fire due timers, and process all queued elements; no source is read."""
        self.tick()
        for number, part in self._parts.items():
            self._drain()
            part.run(part.prepare_barrier)  # waits for calls that are in flight
            self._threads.take_shipped(number)
        self._drain()

    def _drain(self) -> None:
        self._land_everything()
        self.flush()
        while self._with_input:
            unit = max(map(self._units.__getitem__, self._with_input), key=_depth)
            if unit.subtask_id in self._parts:
                self._work(unit, NEVER)
            else:
                self._combine(unit, NEVER)
            self._land_everything()
            if not self._with_input:
                self.flush()

    def end_sources(self) -> None:
        """Read no further, as if all sources had ended."""
        for number, subtask in self._parts.items():
            self._threads.when_free(number, partial(self._end_sources_of, number, subtask))

    def _end_sources_of(self, number: int, subtask: Subtask) -> None:
        subtask.end_sources()
        self._note_work(number, subtask)

    def _source(self, unit: RunQueueEntry) -> SourceInput:
        assert unit.chain is not None
        return self._parts[unit.subtask_id].sources[unit.chain]

    def _sources(self) -> Iterator[SourceInput]:
        for part in self._parts.values():
            yield from part.sources.values()

    def _stopped(self, unit: RunQueueEntry) -> bool:
        """True for a source that is not read, because of a checkpoint."""
        if unit.chain is None:
            return False
        barrier = self._parts[unit.subtask_id].alignment.aligned
        return self._checkpoints.halted or barrier is not None or self._source(unit).paused

    def _run(self, unit: RunQueueEntry, deadline: float) -> bool:
        """Let a unit work; tell whether there was anything to do, and it could be done."""
        if unit.subtask_id not in self._parts:
            self._combine(unit, unit.time)
            return True
        if self._is_backpressured(unit.subtask_id):
            self._parts[unit.subtask_id].activity.held_up(self._now())
            unit.held = True
            return False
        if unit.chain is None:
            self._work(unit, deadline)
            return True
        subtask, source = self._parts[unit.subtask_id], self._source(unit)
        if not source.reading:
            return False
        if subtask.busy:
            self._schedule.put_back(unit)
            self._work(self._units[unit.subtask_id], deadline)
            return True
        begun, used = self._now(), self._threads.used()
        found, more = subtask.poll(unit.chain)
        if found and unit.subtask_id in self._threads:
            self._threads.hand_over(unit, subtask, [], more)
        elif found:
            subtask.activity.working_since = begun
            subtask.work(deadline)
            self._spend(unit, subtask, begun, used)
            self._follow_up(unit, subtask, more)
            if source.reading:
                self._schedule.add(unit)
        return bool(found)

    def _combine(self, unit: RunQueueEntry, until: float) -> None:
        """Combine those events of a shared input whose virtual time (s) has come."""
        self._inputs.combine(unit, until)
        self._schedule.spend(unit, 0.0)
        if unit.rows.waiting:
            self._schedule.add(unit)
        else:
            self._with_input.discard(unit.subtask_id)

    def _work(self, unit: RunQueueEntry, deadline: float) -> None:
        """Process the elements queued up to the unit's virtual time."""
        subtask, begun, used = self._parts[unit.subtask_id], self._now(), self._threads.used()
        rows: Iterable[ChannelRow] = ()
        if not subtask.busy:
            until = NEVER if deadline == NEVER else unit.time
            rows = unit.rows.take(until, _MOST_AT_ONCE)
        if unit.subtask_id in self._threads:
            self._threads.hand_over(unit, subtask, list(rows))
        else:
            subtask.activity.working_since = begun
            subtask.work(deadline, rows)
        if unit.rows.events <= _MOST_WAITING:
            self._places.note_room(unit.subtask_id)
        if unit.subtask_id not in self._in_flight:
            self._spend(unit, subtask, begun, used)
            self._follow_up(unit, subtask)

    def _spend(self, unit: RunQueueEntry, subtask: Subtask, begun: float, used: Usage) -> None:
        ended = self._now()
        activity, took = subtask.activity, ended - begun
        activity.working_since = None
        activity.busy += took
        if activity.held_since is not None:
            activity.released(begun)
        self._schedule.spend(unit, took)
        self._threads.notice(unit.subtask_id, begun, used)

    def _follow_up(self, unit: RunQueueEntry, subtask: Subtask, more: bool = False) -> None:
        """Follow up on the work of a subtask.

        Timers that came due during a slow call fire before the results of that call are sent.
        """
        number = unit.subtask_id
        if not subtask.busy:
            self._note_consumed(number)
            self._pass_barriers(number, subtask)
            if not more and subtask.fan_out <= FEW_RECEIVERS:
                subtask.flush()
                self._threads.take_shipped(number)
        self._note_work(number, subtask)
        if self._tick_due:
            brought_forth = list(self._shipped)
            self._shipped.clear()
            self.tick(omitted=number)
            self._shipped.extend(brought_forth)
            self._route(unit.time)
            if number not in self._threads:
                subtask.tick()
            self._note_work(number, subtask)
        self._route(unit.time)
        if self._now() - self._flushed >= self._flush_interval:
            self.flush()

    def _note_work(self, number: int, subtask: Subtask) -> None:
        """Schedule a subtask if something waits there."""
        if number in self._in_flight:
            return
        unit = self._units[number]
        if subtask.busy or unit.rows.waiting:
            self._with_input.add(number)
            self._schedule.add(unit)
        else:
            self._with_input.discard(number)

    # -- threads ---------------------------------------------------------------------------------

    def note_waiting(self, number: int) -> None:
        """Note that the functions of a part wait: it gets a thread as soon as that can be."""
        self._threads.note_waiting(number)

    def _land_all(self, seconds: float = 0.0) -> bool:
        """Follow up on what threads have done; wait some time for the first of it."""
        landed = False
        while self._in_flight:
            back = self._threads.land(0.0 if landed else seconds)
            if back is None:
                break
            landed = self._landed(*back) or landed
        return landed

    def _landed(self, unit: RunQueueEntry, more: bool, brought_forth: bool) -> bool:
        """Follow up on a piece of work; tell whether it was more than a tick."""
        number = unit.subtask_id
        self._schedule.spend(unit, 0.0)
        self._follow_up(unit, self._parts[number], more)
        if unit.chain is not None and self._source(unit).reading:
            self._schedule.add(unit)
        self._schedule.add_all(self._threads.parked(number))
        return brought_forth or unit.chain is not None or number in self._with_input

    def _land_everything(self) -> None:
        while self._in_flight:
            self._land_all(PIECE_SECONDS)

    def _help_waiting(self) -> None:
        """Let parts that wait do so in threads; those of several tasks are cut first."""
        for number in self._threads.waiting():
            part = self._parts[number]
            if self._checkpoints.pending or part.alignment.arrived:
                continue
            if not part.divisible and len(self._parts) == 1:
                self._threads.start_anew(number)
            elif self._threads.may_move(number, part):
                if part.divisible:
                    self._cut(number)
                else:
                    self._threads.give(number, part)

    def _cut(self, number: int) -> list[int]:
        """Put a part for each task that Flink would have in the place of a part."""
        numbers = itertools.chain((number,), self._numbers)
        unit = self._units[number]
        found = self._parts[number].cut(numbers)
        if len(found) == 1:
            return [number]
        ordered: dict[int, Subtask] = {}
        for each, part in self._parts.items():
            ordered.update(found if each == number else {each: part})
        self._parts = ordered
        for index, each in enumerate(found):
            self._stages[each] = self._stages[number]
            if each != number:
                self._units[each] = RunQueueEntry(each, unit.depth + index / _DEPTHS**2)
            self._places.put(each, self._places.of(number, index))
            self._threads.start_anew(each)
        _log.debug("%s: its %d tasks work by turns", name_of(found[number]), len(found))
        return list(found)

    # -- rows ------------------------------------------------------------------------------------

    def _is_backpressured(self, number: int) -> bool:
        """True if the output of a subtask has to wait for the subtasks downstream."""
        if self._outlet is not None and self._outlet.congested(self._stages[number] + 1):
            return True
        return self._places.leads_to_full(number)

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
        """Send shipped rows to their receivers.

        Args:
            arrival: the virtual time (s) at which it gets there.
        """
        shipped = self._shipped
        while shipped:
            row = shipped.popleft()
            if isinstance(row, FanOut):
                self._inputs.take(row, arrival)
                if self._outlet is not None:
                    self._outlet.spread(row, self._stages.get(row.receivers[0], self._beyond))
            elif row.subtask_id in self._parts:
                close_row(row)
                if (admitted := self._inputs.admit(row, arrival)) is not None:
                    self._deliver(row, admitted)
            else:
                assert self._outlet is not None
                self._outlet.send(row, self._stages.get(row.subtask_id, self._beyond))
        if self._outlet is not None:
            self._outlet.flush()

    def _deliver(self, row: ChannelRow, arrival: float) -> None:
        unit = self._units[self._part_of(row.subtask_id, row.channel)]
        self._schedule.deliver(unit, row, arrival)
        self._delivered(unit)

    def _delivered(self, unit: RunQueueEntry) -> None:
        """Note that something waits at a unit, which is scheduled."""
        self._with_input.add(unit.subtask_id)
        if unit.rows.events > _MOST_WAITING and unit.subtask_id in self._parts:
            self._places.note_full(unit.subtask_id)

    def _part_of(self, number: int, channel: int) -> int:
        """Return the number of the part of a subtask in which a channel ends."""
        return self._elsewhere.get((number, channel), number)

    def _note_consumed(self, number: int) -> None:
        """Report the rows from elsewhere that are processed, also while others wait.

        Rows from here may wait at all times. If they held this up, the senders elsewhere would
        stand still, and event time with them.
        """
        taken = self._units[number].rows.taken
        if self._outlet is None or not taken:
            return
        for row in taken:
            self._outlet.consumed(row, self._stages[number])
        taken.clear()

    def add_splits(
        self, subtask_id: int, chain: int, splits: Sequence[object], *, at_once: bool
    ) -> None:
        """Give splits to the source that asked for them."""
        source = self._subtasks[subtask_id].sources[chain]
        number = next(n for n, part in self._parts.items() if source in part.sources.values())
        self._threads.when_free(number, partial(source.add_splits, splits, at_once=at_once))

    # -- checkpoints -----------------------------------------------------------------------------

    def begin_checkpoint(self, request: SnapshotRequest) -> None:
        """Take part in a checkpoint; ``request.done`` says when all subtasks have."""
        self._checkpoints.begin(request, len(self._parts))
        for number, subtask in self._parts.items():
            self._threads.when_free(number, partial(self._trigger, number, subtask, request))
        self._route(self._schedule.now)

    def _trigger(self, number: int, subtask: Subtask, request: SnapshotRequest) -> None:
        subtask.begin_checkpoint(request.checkpoint_id)
        if not subtask.busy:
            self._pass_barriers(number, subtask)

    def abort_checkpoint(self, checkpoint_id: int) -> None:
        """Write nothing more of a checkpoint; barriers that are under way pass."""
        self._checkpoints.abort(checkpoint_id)

    def read_on(self, reading: bool = True) -> None:
        """Read sources again after a checkpoint that has halted them, or read no more.

        Args:
            reading: whether sources are read, and processing time passes.
        """
        self._checkpoints.halted = not reading

    def pass_barriers_on(self, checkpoint_id: int) -> None:
        """Send the barriers of a checkpoint, of subtasks that have ended and are closed."""
        for subtask in self:
            subtask.send_barrier(checkpoint_id)
        self._route(self._schedule.now)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint is complete."""
        self._checkpoints.take_prepared()
        for number, part in self._parts.items():
            notify = partial(part.notify_checkpoint_complete, checkpoint_id)
            self._threads.when_free(number, partial(part.run, notify))

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint was aborted."""
        for number, part in self._parts.items():
            notify = partial(part.notify_checkpoint_aborted, checkpoint_id)
            self._threads.when_free(number, partial(part.run, notify))

    def _pass_barriers(self, number: int, subtask: Subtask) -> None:
        if subtask.alignment.aligned is not None and self._checkpoints.pass_barriers(subtask):
            self._threads.take_shipped(number)
            self._note_work(number, subtask)

    # -- the end ---------------------------------------------------------------------------------

    @property
    def prepared(self) -> list[object]:
        """The committables of all checkpoints since the last complete one, for the driver."""
        return self._checkpoints.prepared

    def committables(self) -> list[Any]:
        """Return, once, the committables for the driver, each with its sink's number."""
        self._threads.await_all()
        return [
            *self._checkpoints.take_prepared(),
            *(item for part in self._parts.values() for item in part.committables()),
        ]

    def close(self, failed: bool = False) -> None:
        """Close all subtasks that were opened, upstream first; raise the first failure to do so."""
        self._threads.await_all()
        error: Exception | None = None
        while self._opened:
            try:
                self._opened.pop().close(failed)
            except Exception as cause:  # noqa: BLE001 - the others have to be closed as well
                error = error or cause
        self._threads.stop()
        if error is not None:
            raise error

    def progress(self) -> list[TaskProgress]:
        """Return how far each chain of each subtask is."""
        for number, part in self._parts.items():
            if number not in self._in_flight:
                self._progress[number] = part.progress()
            else:  # a function that is stuck works
                worked = part.activity.worked(self._now())
                known = self._progress.get(number, ())
                self._progress[number] = [
                    replace(each, busy=max(each.busy, worked)) for each in known
                ]
        return [each for number in self._parts for each in self._progress.get(number, ())]

    def working(self) -> list[TaskProgress]:
        """The last progress of the parts whose functions are in a call, with the time until now.

        Any thread may ask, also while the one that works here is stuck.
        """
        now = self._now()
        found: list[TaskProgress] = []
        for number, part in self._parts.items():
            if part.activity.working_since is not None:
                worked = part.activity.worked(now)
                known = self._progress.get(number, ())
                found += [replace(each, busy=max(each.busy, worked)) for each in known]
        return found


def _depth(unit: RunQueueEntry) -> float:
    return unit.depth
