"""The order in which the subtasks of a process work, and the input of sources."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pyflink_on_spark._runtime.contract.connector import SourceReader
from pyflink_on_spark._runtime.contract.plan import LocalPlan, StagePlan
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle, EndOfInput
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow, EventBatch, FanOut
from pyflink_on_spark._runtime.task.operator_chain import SOURCE_CHANNEL, OperatorChain

SLOW_SECONDS = 0.01
"""How long a piece of work has to take to count. So the order of what is fast does not depend on
how fast it is."""
Place = tuple[int, ...]
"""The number of subtask 0 of a vertex, of a chain there, and of a task in a chain that is cut."""
_TURN_SECONDS = 0.1
_PLACES = itertools.count()
"""Orders what comes at the same virtual time, in all queues."""


class InputQueue:
    """The input rows of a subtask, in the order of their arrival in virtual time (s).

    The rows of a channel stay in their order.
    """

    __slots__ = (
        "_combined",
        "_first",
        "_last",
        "_latest",
        "events",
        "foreign",
        "taken",
        "waiting",
    )

    def __init__(self) -> None:
        self.waiting: list[tuple[float, int, ChannelRow]] = []
        """A heap of rows with the virtual times at which they came."""
        self.events = 0
        """How many events the rows have."""
        self.foreign: dict[int, ChannelRow | FanOut] = {}
        """The rows and events of other processes, by the identities of the rows that wait here."""
        self.taken: list[ChannelRow | FanOut] = []
        """Those of them that were taken, until their senders are notified."""
        self._last: dict[int, float] = {}
        self._first = self._latest = self._combined = 0.0

    def add(self, row: ChannelRow, arrival: float) -> None:
        """Take a row that comes at a virtual time, or after that of its channel before it."""
        last = self._last.get(row.channel, self._first)
        if arrival > last:
            self._last[row.channel] = arrival
        else:
            arrival = last
        self._push(row, arrival)

    def separate(self, row: ChannelRow, arrival: float) -> None:
        """Take a row that comes after all rows so far, and before all later ones."""
        self._first = max(arrival, self._latest)
        self._last.clear()
        self._push(row, self._first)

    def add_combined(
        self, row: ChannelRow, cause: int, arrival: float, place: int | None = None
    ) -> None:
        """Take the time of several channels, after what came at that virtual time or before.

        Args:
            row: a row with this time.
            cause: the channel that has caused it, on which it comes before all later rows.
            arrival: the virtual time (s).
            place: its place among all that comes at that time; None for the last one so far.
        """
        self._combined = arrival = max(arrival, self._first, self._combined)
        if arrival > self._last.get(cause, self._first):
            self._last[cause] = arrival
        self._push(row, arrival, place)

    def _push(self, row: ChannelRow, arrival: float, place: int | None = None) -> None:
        self._latest = max(self._latest, arrival)
        place = next(_PLACES) if place is None else place
        heapq.heappush(self.waiting, (arrival, place, row))
        self.events += _events_in(row)

    def take(self, until: float, most: float = math.inf) -> Iterator[ChannelRow]:
        """Yield, once, the rows that came up to a virtual time.

        Args:
            until: the virtual time (s).
            most: after how many events to end.
        """
        rows, taken = self.waiting, 0
        while taken < most and rows and rows[0][0] <= until:
            row = heapq.heappop(rows)[2]
            events = _events_in(row)
            taken += events
            self.events -= events
            if self.foreign and (came := self.foreign.pop(id(row), None)) is not None:
                self.taken.append(came)
            yield row

    def take_with_times(self, until: float) -> Iterator[tuple[float, int, ChannelRow]]:
        """Yield, once, the rows that came up to a virtual time (s), with times and places."""
        rows = self.waiting
        while rows and rows[0][0] <= until:
            self.events -= _events_in(rows[0][2])
            yield heapq.heappop(rows)


def _events_in(row: ChannelRow) -> int:
    return len(row.payload.events) if type(row.payload) is EventBatch else 1


@dataclass(eq=False, slots=True)
class RunQueueEntry:
    """A unit of scheduling: a source with its chain, or the input of a subtask.

    Args:
        subtask_id: the number of the subtask.
        depth: how deep it lies.
        chain: the number of the chain that a source feeds; None for the input from exchanges.
        time: the virtual time (s) up to which it has worked.
        rows: what came in.
        scheduled: whether it is in the schedule.
        place: its number among those that wait.
        start: the virtual time (s) at which it can work, while it is in the schedule.
        idle: whether it had nothing to do, or had to wait, when it had its turn.
        held: whether its output had to wait for subtasks downstream then.
    """

    subtask_id: int
    depth: float
    chain: int | None = None
    time: float = 0.0
    rows: InputQueue = field(default_factory=InputQueue)
    scheduled: bool = False
    place: int = 0
    start: float = 0.0
    idle: bool = False
    held: bool = False


class Schedule:
    """Picks the unit that would work first if all worked at the same time.

    Each unit has a virtual time. Slow work moves it forward, and what is sent arrives at the
    virtual time of its sender: so what a slow function holds up is only what follows it, as in
    Flink, where subtasks are threads. Of those that could work at the same time the one furthest
    downstream comes first, then the one that waits longest.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, float, int, RunQueueEntry]] = []
        self._scheduled = 0
        self._numbers = itertools.count()
        self.now = 0.0
        """The virtual time (s) at which the last unit began to work."""

    def __bool__(self) -> bool:
        return self._scheduled > 0

    def __len__(self) -> int:
        return self._scheduled

    def deliver(self, unit: RunQueueEntry, row: ChannelRow, arrival: float) -> None:
        """Let a row arrive at a unit at a virtual time (s)."""
        unit.rows.add(row, arrival)
        self.add(unit)

    def separate(self, unit: RunQueueEntry, row: ChannelRow, arrival: float) -> None:
        """Let a row arrive at a unit after all rows so far, and before all later ones."""
        unit.rows.separate(row, arrival)
        self.add(unit)

    def deliver_combined(
        self, unit: RunQueueEntry, row: ChannelRow, cause: int, arrival: float, place: int | None
    ) -> None:
        """Let the time of several channels arrive, as ``InputQueue.add_combined`` takes it."""
        unit.rows.add_combined(row, cause, arrival, place)
        self.add(unit)

    def add(self, unit: RunQueueEntry) -> None:
        """Queue a unit for its turn."""
        if not unit.scheduled:
            unit.place = next(self._numbers)
        self.put_back(unit)

    def put_back(self, unit: RunQueueEntry) -> None:
        """Let a unit that could not have its turn wait where it waited before."""
        start, waiting = unit.time, unit.rows.waiting
        if waiting and waiting[0][0] > start:
            start = waiting[0][0]
        if not unit.scheduled:
            unit.scheduled = True
            self._scheduled += 1
        elif start >= unit.start:
            return
        unit.start = start  # what is in the heap from before does not count any more
        order = math.inf if unit.held else -unit.depth  # after those that may work
        heapq.heappush(self._heap, (start, order, unit.place, unit))

    def add_all(self, units: list[RunQueueEntry]) -> None:
        """Let units wait for their turns, and empty the list."""
        for unit in units:
            self.add(unit)
        units.clear()

    def add_idle(self, units: list[RunQueueEntry]) -> None:
        """Let units wait that had nothing to do, or had to wait, and empty the list.

        They come up to the present. They do not stay before those that have something to do:
        sources without elements, or subtasks whose output has to wait, would have all turns.
        """
        first = min(
            (
                start
                for start, *_, unit in self._heap
                if not unit.held and (unit.rows.waiting or not unit.idle)
            ),
            default=self.now,
        )
        for unit in units:
            unit.time, unit.idle = max(unit.time, self.now, first), True
        self.add_all(units)

    def pick(self) -> RunQueueEntry:
        """Return the unit whose turn it is, and take it out."""
        while True:
            start, _, place, unit = heapq.heappop(self._heap)
            if unit.scheduled and (start, place) == (unit.start, unit.place):
                unit.scheduled, unit.time = False, start
                self._scheduled -= 1
                return unit

    def spend(self, unit: RunQueueEntry, seconds: float) -> None:
        """Add the duration of slow work (s) to the unit's virtual time."""
        self.now = max(self.now, unit.time)
        unit.idle = unit.held = False
        if seconds >= SLOW_SECONDS:
            unit.time += seconds


class Places:
    """The chains of a job, and what follows each.

    Args:
        stages: the job's.
    """

    def __init__(self, stages: Iterable[StagePlan]) -> None:
        vertices = [vertex for stage in stages for vertex in stage.vertices]
        receivers = {
            channel.exchange.first_channel: (vertex.first_subtask_id, channel.chain)
            for vertex in vertices
            for channel in vertex.inputs
        }
        self._next: dict[Place, set[Place]] = {
            (vertex.first_subtask_id, index): {
                (vertex.first_subtask_id, output.edge.chain)
                if isinstance(output.edge, LocalPlan)
                else receivers[output.edge.first_channel]
                for output in chain.outputs
                if isinstance(output.edge, LocalPlan) or output.edge.first_channel in receivers
            }
            for vertex in vertices
            for index, chain in enumerate(vertex.chains)
        }
        self._after: dict[Place, frozenset[Place]] = {}
        self._of: dict[int, Place] = {}
        self._full: dict[Place, set[int]] = {}

    def put(self, number: int, place: Place) -> None:
        """Note where the part of a subtask with a number is."""
        self._of[number] = place

    def of(self, number: int, task: int) -> Place:
        """Return where a task is that comes from the part with a number, which task 0 stays."""
        place = self._of[number]
        if not task:
            return place
        cut = *place, task
        if cut not in self._next:
            self._next[cut] = self._next[place]
            self._next[place] = self._next[place] | {cut}
            self._after.clear()
        return cut

    def note_full(self, number: int) -> None:
        """Note that too much waits for the part with a number."""
        self._full.setdefault(self._of[number], set()).add(number)

    def note_room(self, number: int) -> None:
        """Note that the part with a number keeps up."""
        if self._full:
            place = self._of[number]
            full = self._full.get(place, set())
            full.discard(number)
            if not full:
                self._full.pop(place, None)

    def leads_to_full(self, number: int) -> bool:
        """True if the output of a part goes where too much waits for a part, directly or not."""
        if not self._full:
            return False
        return not self._all_after(self._of[number]).isdisjoint(self._full)

    def _all_after(self, place: Place) -> frozenset[Place]:
        found = self._after.get(place)
        if found is None:
            reached, left = set[Place](), list(self._next[place])
            while left:
                each = left.pop()
                if each not in reached:
                    reached.add(each)
                    left += self._next[each]
            found = self._after[place] = frozenset(reached)
        return found


class SourceInput:
    """Reads the source of one chain.

    A turn begins with one element and doubles as long as it is short, whatever the functions after
    the source take. So of a small input not all is read before another one has its turn, and a slow
    function does not hold event time back.

    A reader that has ended is closed; where checkpoints are made, once one is complete that has its
    end: until then it takes part in them, since there may be something that it has to tell its
    source.

    Args:
        chain: what it feeds.
        reader: the source's end in this subtask.
        checkpointed: whether checkpoints are made.
        allowance: how many elements are read between two checkpoints; None for any number.
        now: the time in seconds; any clock that never goes back.
        ask: asks the driver for a number of splits.
    """

    def __init__(
        self,
        chain: OperatorChain,
        reader: SourceReader,
        checkpointed: bool,
        allowance: int | None,
        now: Callable[[], float] = time.monotonic,
        ask: Callable[[int], None] = lambda count: None,
    ) -> None:
        self._chain, self._reader, self._now = chain, reader, now
        self._ask = ask
        self._ordered: deque[int] = deque()
        self._held: list[tuple[int, Sequence[object], bool]] = []
        self._checkpointed = checkpointed
        self._size = 1
        self._begun: float | None = None
        self._allowance, self._left = allowance, allowance
        self._stopped = self._closed = False
        self._last_position: list[object] = []
        self._ended_in: int | None = None
        self.reading = True
        """True until the source has ended."""

    @property
    def reader(self) -> SourceReader:
        """The source's end in this subtask."""
        return self._reader

    @property
    def paused(self) -> bool:
        """True if nothing is read before the next checkpoint."""
        return self._left == 0

    @property
    def backlog(self) -> int | None:
        """The number of waiting elements, if it is known."""
        return self._reader.backlog() if self.reading else None

    def poll(self) -> tuple[int, bool]:
        """Queue the next elements of the source in the chain.

        Returns:
            How many elements and events it was, and whether there is more right now.
        """
        self._adapt()
        reader, left = self._reader, self._left
        limit = reader.limit = self._size if left is None else min(self._size, left)
        event = reader.poll()
        count = 0
        if isinstance(event, Bundle):
            count = len(event.values)
            if left is not None:
                self._left = max(0, left - count)
            self._chain.receive(0, event)
        elif event is not None:
            self._chain.take_event(SOURCE_CHANNEL, event)
        elif reader.ended:
            self._end()
        if wanted := reader.splits_wanted():
            self._ask(wanted)
        self._begun = self._now() if count else None
        return (count or int(event is not None or not self.reading)), count >= limit

    def stop(self) -> None:
        """Read no further: to those downstream it is as if the source had ended.

        What the reader has taken already is still to be polled while it is reading. Another call
        changes nothing.
        """
        if not self._stopped:
            self._stopped = True
            if self.reading and not self._reader.stop():
                self._end()

    def add_splits(self, splits: Sequence[object], *, at_once: bool) -> None:
        """Take splits from the driver.

        What comes after the order of a checkpoint waits until the checkpoint's barrier has passed:
        the driver's part of the checkpoint has it as well.
        """
        if self._ordered:
            self._held.append((self._ordered[-1], splits, at_once))
        else:
            self._reader.add_splits(splits, at_once=at_once)

    def checkpoint_ordered(self, checkpoint_id: int) -> None:
        """Note that the driver has ordered a checkpoint, whose barrier will pass."""
        self._ordered.append(checkpoint_id)

    def barrier_passed(self, checkpoint_id: int) -> None:
        """Note that a barrier has passed, whether there was a snapshot or not."""
        while self._ordered and self._ordered[0] <= checkpoint_id:
            self._ordered.popleft()
        while self._held and self._held[0][0] <= checkpoint_id:
            _, splits, at_once = self._held.pop(0)
            self._reader.add_splits(splits, at_once=at_once)

    def snapshot(self, checkpoint_id: int) -> list[object]:
        """Return the reader's positions."""
        self._left = self._allowance
        if not self._closed:
            if not self.reading and self._ended_in is None:
                self._ended_in = checkpoint_id
            self._reader.prepare_checkpoint(checkpoint_id)
            self._last_position = self._reader.snapshot()
        return self._last_position

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify the reader that a checkpoint is complete."""
        if not self._closed:
            self._reader.notify_checkpoint_complete(checkpoint_id)
            if self._ended_in is not None and self._ended_in <= checkpoint_id:
                self._close()

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify the reader that a checkpoint was aborted."""
        if not self._closed:
            self._reader.notify_checkpoint_aborted(checkpoint_id)

    def close(self) -> None:
        """Close the reader; what fails here hides nothing else."""
        self.reading = False
        if not self._closed:
            with contextlib.suppress(Exception):
                self._close()

    def _adapt(self) -> None:
        """Make the next turn longer or shorter, by the duration of the last one."""
        if self._begun is None:
            return
        took = self._now() - self._begun
        if took > 2 * _TURN_SECONDS:
            self._size = max(1, int(self._size * _TURN_SECONDS / took))
        elif took < _TURN_SECONDS:
            self._size = min(self._size * 2, BUNDLE_SIZE)

    def _end(self) -> None:
        self.reading = False
        if not self._stopped and not self._checkpointed:
            self._last_position = self._reader.snapshot()
            self._close()
        self._chain.take_event(SOURCE_CHANNEL, EndOfInput())

    def _close(self) -> None:
        self._closed = True
        self._reader.close()
