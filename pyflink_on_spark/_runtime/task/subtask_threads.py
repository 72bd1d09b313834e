"""Threads for the parts of subtasks whose functions wait, and the progress of subtasks."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar

from pyflink_on_spark._options import own
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow, EventBatch, FanOut

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.task.schedule import RunQueueEntry
    from pyflink_on_spark._runtime.task.subtask import Subtask

T = TypeVar("T")
Finished = tuple[int, BaseException | None]
"""The number of a part that has done a piece of work, and what the work failed with."""
_WINDOW_SECONDS = 0.1
"""After how much work it is decided whether a part waits."""
_WAITING_SHARE = 0.5
_SCHEDSTAT = "/proc/thread-self/schedstat"
_DEEPEST, _MOST_ITEMS, _MOST_OBJECTS = 6, 100, 2_000
_BOUND_TO_A_THREAD = (sqlite3.Connection, sqlite3.Cursor, threading.local)
Usage = tuple[float, int, int]
"""For how long (s) a thread had or wanted a processor, and how often it gave it up, and lost it."""
TICK_MS = 10
PIECE_SECONDS = 0.01
"""How long a thread works before others learn what has come of it."""
_NOTHING: Usage = 0.0, 0, 0
_log = logging.getLogger(__name__)


class SubtaskThreads:
    """A thread for each of some parts: it does one piece of work after another.

    A part is used by one thread at a time: by its own between ``submit`` and the moment when
    ``finished`` returns its number, else by the thread of the group.

    Args:
        wake: called when a piece of work is done, in the thread of the part; without it the group
            itself waits for such pieces.
    """

    def __init__(self, wake: Callable[[], None] | None = None) -> None:
        self._wake = wake
        self._work: dict[int, SimpleQueue[Callable[[], object] | None]] = {}
        self._threads: list[threading.Thread] = []
        self._done: SimpleQueue[Finished] = SimpleQueue()

    def __contains__(self, number: int) -> bool:
        return number in self._work

    @property
    def wakes(self) -> bool:
        """True if the completion of work wakes the subtask."""
        return self._wake is not None

    def start(self, number: int) -> None:
        """Start the thread of a part."""
        work = self._work[number] = SimpleQueue()
        name = f"subtask-{len(self._work)}"
        thread = threading.Thread(target=_run_all, args=(work,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def submit(self, number: int, piece: Callable[[], object]) -> None:
        """Have a piece of work done in the thread of a part."""

        def work() -> None:
            error: BaseException | None = None
            try:
                piece()
            except BaseException as found:  # noqa: BLE001 - it is raised in the group's thread
                error = found
            self._done.put((number, error))
            if self._wake is not None:
                self._wake()

        self._work[number].put(work)

    def call(self, number: int, function: Callable[[], T]) -> T:
        """Call something in the thread of a part that does nothing else, and wait for it."""
        answers: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

        def work() -> None:
            try:
                answer: tuple[T | None, BaseException | None] = (function(), None)
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                answer = (None, error)
            answers.put(answer)

        self._work[number].put(work)
        result, error = answers.get()
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def finished(self, seconds: float | None = 0.0) -> Finished | None:
        """Return a part that has done a piece of work, or None.

        Args:
            seconds: how long to wait for one; None for as long as it takes.
        """
        try:
            if seconds is None or seconds > 0:
                return self._done.get(timeout=seconds)
            return self._done.get_nowait()
        except Empty:
            return None

    def stop(self) -> None:
        """End all threads, none of which has anything to do."""
        for work in self._work.values():
            work.put(None)
        self._work.clear()
        while self._threads:
            self._threads.pop().join()


def _run_all(work: SimpleQueue[Callable[[], object] | None]) -> None:
    while (piece := work.get()) is not None:
        piece()
        del piece  # else it would keep what it worked on until the next one comes


class WaitNotice:
    """Notices that a part waits: that it has no processor, and has mostly given it up itself.

    A thread that only wants a processor, since others have them all, does not give it up.
    """

    __slots__ = ("_given_up", "_waited", "_wall")

    def __init__(self) -> None:
        self._wall, self._waited, self._given_up = 0.0, 0.0, 0

    def waits(self, wall: float, before: Usage, after: Usage) -> bool:
        """Take a piece of work into account; tell whether the part waits.

        Args:
            wall: how long (s) it took.
            before: what its thread had used at its begin.
            after: the same at its end.
        """
        self._wall += wall
        self._waited += wall - (after[0] - before[0])
        self._given_up += (after[1] - before[1]) - (after[2] - before[2])
        if self._wall < _WINDOW_SECONDS:
            return False
        waits = self._waited >= _WAITING_SHARE * self._wall and self._given_up > 0
        self._wall, self._waited, self._given_up = 0.0, 0.0, 0
        return waits


class ThreadUsage:
    """The usage of processors by the calling thread.

    To ask for more than its time takes longer than many a piece of work. So the rest is asked only
    after a piece in which the thread was mostly without a processor. All the time in which it has
    wanted one since it was asked last counts then: a wait may seem shorter, never longer.

    Args:
        who: what ``getrusage`` has for the calling thread.
    """

    def __init__(self, who: int) -> None:
        self._who = who
        self._thread = 0
        self._file: int | None = None
        self._wanted, self._given_up = 0.0, 0
        self._tells_wanted = os.path.exists(_SCHEDSTAT)

    def begin(self) -> Usage:
        """Return the usage before a piece of work."""
        if self._tells_wanted:
            return time.thread_time(), 0, 0
        return (time.thread_time(), *self._switches())

    def end(self, wall: float, before: Usage) -> Usage:
        """Return the usage after a piece of work.

        Args:
            wall: how long (s) it took.
            before: what ``begin`` returned.
        """
        had, given_up, lost = time.thread_time(), *before[1:]
        without = wall - (had - before[0])
        if without < _WAITING_SHARE * wall:
            return had, given_up, lost
        if not self._tells_wanted:
            return (had, *self._switches())
        # The processor that it lost to others it has wanted.
        wanted = self._wanted_since()
        known, self._given_up = self._given_up, self._switches()[0]
        return had + min(without, wanted), given_up + self._given_up - known, lost

    def _switches(self) -> tuple[int, int]:
        used = resource.getrusage(self._who)
        return used.ru_nvcsw, used.ru_nivcsw

    def _wanted_since(self) -> float:
        """For how long (s) others had all processors since the last call, as Linux tells."""
        if self._thread != threading.get_native_id():
            self._open()
        if self._file is None:
            return 0.0
        before, self._wanted = self._wanted, int(os.pread(self._file, 100, 0).split()[1]) / 1e9
        return self._wanted - before

    def _open(self) -> None:
        self._close()
        self._thread, self._wanted, self._given_up = threading.get_native_id(), 0.0, 0
        with contextlib.suppress(OSError):
            self._file = os.open(_SCHEDSTAT, os.O_RDONLY)

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        self._close()


def thread_usage() -> ThreadUsage | None:
    """Return the meter of the calling thread; None if the system has none."""
    who = getattr(resource, "RUSAGE_THREAD", None)
    return None if who is None else ThreadUsage(who)


def bound_to_thread(functions: Iterable[object]) -> object | None:
    """Return something in functions that only the thread which made it can use, or None."""
    seen: set[int] = set()
    left = [(function, 0) for function in functions]
    while left and len(seen) < _MOST_OBJECTS:
        thing, depth = left.pop()
        if isinstance(thing, _BOUND_TO_A_THREAD):
            return thing
        if depth < _DEEPEST and id(thing) not in seen:
            seen.add(id(thing))
            left += [(each, depth + 1) for each in _inside(thing)]
    return None


def _inside(thing: object) -> Iterator[object]:
    """Yield the objects that an object refers to; nothing of large collections."""
    if isinstance(thing, dict):
        if len(thing) <= _MOST_ITEMS:
            yield from thing.values()
    elif isinstance(thing, list | tuple | set):
        if len(thing) <= _MOST_ITEMS:
            yield from thing
    elif isinstance(thing, FunctionType):
        for cell in thing.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:
                continue  # it is empty
    else:
        yield from getattr(thing, "__dict__", {}).values()
        bound = getattr(thing, "__self__", None)
        if bound is not None:
            yield bound


class PartThreads:
    """Notices parts whose functions wait, and lets parts work in threads.

    What such a part has done is followed up, and what concerns it is called, when it has landed.

    Args:
        threads: the threads.
        usage: tells what the thread that asks uses; None if nobody can tell.
        shipped: takes the rows of parts that have landed.
        now: the time in seconds; any clock that never goes back.
        clock: processing time.
    """

    def __init__(
        self,
        threads: SubtaskThreads,
        usage: ThreadUsage | None,
        shipped: deque[ChannelRow | FanOut],
        now: Callable[[], float],
        clock: Clock,
    ) -> None:
        self._threads, self._usage, self._shipped = threads, usage, shipped
        self._now, self._clock = now, clock
        self.in_flight: dict[int, tuple[RunQueueEntry, bool]] = {}
        """The units that work in threads, by part; and whether there is more."""
        self._outboxes: dict[int, deque[ChannelRow | FanOut]] = {}
        self._parked: dict[int, list[RunQueueEntry]] = {}
        self._later: dict[int, list[Callable[[], None]]] = {}
        self._ticks: dict[int, int] = {}
        self._notices: dict[int, WaitNotice] = {}
        self._waits: set[int] = set()
        self._told: set[int] = set()

    def __contains__(self, number: int) -> bool:
        """True if a part has a thread."""
        return number in self._threads

    @property
    def wakes(self) -> bool:
        """True if the completion of work wakes the group."""
        return self._threads.wakes

    # -- who waits -------------------------------------------------------------------------------

    def used(self) -> Usage:
        """Return the usage of this thread before a piece of work."""
        return _NOTHING if self._usage is None else self._usage.begin()

    def notice(self, number: int, begun: float, used: Usage) -> None:
        """Notice whether a part has waited since some time (s), in this thread."""
        if self._usage is None:
            return
        notice = self._notices.get(number)
        if notice is None:
            notice = self._notices[number] = WaitNotice()
        wall = self._now() - begun
        if notice.waits(wall, used, self._usage.end(wall, used)):
            self.note_waiting(number)

    def note_waiting(self, number: int) -> None:
        """Note that the functions of a part wait."""
        if number not in self._threads:
            self._waits.add(number)

    def waiting(self) -> list[int]:
        """Return the numbers of the parts that wait and are to get threads."""
        return [number for number in self._waits if number not in self.in_flight]

    def may_move(self, number: int, part: Subtask) -> bool:
        """Return True if the functions of a part that waits work in any thread; log once if not."""
        self._waits.discard(number)
        bound = bound_to_thread(part.functions())
        if bound is not None and number not in self._told:
            self._told.add(number)
            _log.warning(
                "%s waits, and holds up what shares its thread: a %s works in no other thread. "
                "With %s = thread functions are opened in threads of their own.",
                name_of(part),
                type(bound).__name__,
                own.WAITING_FUNCTIONS.key,
            )
        return bound is None

    def start_anew(self, number: int) -> None:
        """Forget whether a part has waited: it is another one now."""
        self._notices.pop(number, None)
        self._waits.discard(number)

    # -- work in threads -------------------------------------------------------------------------

    def give(self, number: int, part: Subtask) -> None:
        """Let a part work in a thread of its own from now on."""
        outbox = self._outboxes[number] = deque[ChannelRow | FanOut]()
        part.ship_to(outbox.append)
        part.run_in(partial(self._threads.call, number))
        self._threads.start(number)
        self.start_anew(number)
        _log.debug("%s works in a thread of its own", name_of(part))

    def hand_over(
        self, unit: RunQueueEntry, part: Subtask, rows: list[ChannelRow], more: bool = False
    ) -> None:
        """Let a part work in its thread; nothing here touches it until it lands."""
        number = unit.subtask_id
        if part.activity.held_since is not None:
            part.activity.released(self._now())
        self.in_flight[number] = unit, more
        self._threads.submit(number, partial(part.piece, rows, PIECE_SECONDS))

    def tick(self, unit: RunQueueEntry, part: Subtask) -> None:
        """Fire timers due by processing time in a thread, unless one works for the part."""
        number = unit.subtask_id
        due = self._ticks.get(number, 0) + TICK_MS
        if number not in self.in_flight and part.follows_clock and self._clock.now() >= due:
            self._ticks[number] = self._clock.now()
            self.hand_over(unit, part, [])

    def park(self, unit: RunQueueEntry) -> None:
        """Keep a unit whose part works in a thread until it has landed."""
        self._parked.setdefault(unit.subtask_id, []).append(unit)

    def parked(self, number: int) -> list[RunQueueEntry]:
        """Return, once, the units that were kept for a part."""
        return self._parked.pop(number, [])

    def land(self, seconds: float) -> tuple[RunQueueEntry, bool, bool] | None:
        """Take back a part that has done its piece of work.

        Args:
            seconds: how long to wait for one.

        Returns:
            The unit, whether there is more for it, and whether rows have come of it; or None.
        """
        finished = self._threads.finished(seconds)
        if finished is None:
            return None
        number, error = finished
        unit, more = self.in_flight.pop(number)
        if error is not None:
            raise error
        brought_forth = self.take_shipped(number)
        for call in self._later.pop(number, ()):
            call()
        return unit, more, brought_forth

    def take_shipped(self, number: int) -> bool:
        """Take the rows that a part has shipped in its thread."""
        rows = self._outboxes.get(number)
        if not rows:
            return False
        for row in rows:
            close_row(row)
        self._shipped.extend(rows)
        rows.clear()
        return True

    def when_free(self, number: int, call: Callable[[], None]) -> None:
        """Call something that concerns a part, now or when the part has landed."""
        if number in self.in_flight:
            self._later.setdefault(number, []).append(call)
        else:
            call()

    def await_all(self) -> None:
        """Let threads end their work after a failure."""
        while self.in_flight:
            finished = self._threads.finished(None)
            assert finished is not None
            del self.in_flight[finished[0]]

    def stop(self) -> None:
        """End all threads, none of which has anything to do."""
        self._threads.stop()


def close_row(row: ChannelRow | FanOut) -> None:
    """Let the sender of a row add nothing to it any more."""
    if isinstance(row, ChannelRow) and type(row.payload) is EventBatch:
        row.payload.sent = True


def name_of(part: Subtask) -> str:
    """Return the name of a part for people."""
    return part.place_of(next(iter(part.functions()), None))


@dataclass(frozen=True)
class StateEntries:
    """The number of entries that a keyed state has in memory.

    Args:
        operator: the name of the operator.
        state: the name of the state.
        entries: how many entries there are.
    """

    operator: str
    state: str
    entries: int


@dataclass(frozen=True)
class TaskProgress:
    """One task, or a subtask of it.

    Args:
        name: the names of its operators.
        subtasks: how many subtasks this is about.
        records: how many elements have come in since the attempt began.
        watermark: its event time in ms; None before the first watermark.
        state_entries: how many entries its keyed state has in memory.
        backlog: how many elements wait at its source; None if the source cannot tell.
        records_per_second: how many came in during the last seconds.
        subtask: which subtask, from 0, if this is about one.
        busy: how long it has worked since the attempt began, in s; of several subtasks the longest
            time. Subtasks of one host share a thread, and work in turns.
        backpressured: how long it could not work, because those downstream had too much to do.
        busy_share: which part of the last seconds it has worked, from 0 to 1.
        backpressured_share: in which part of the last seconds it could not work.
        states: how many entries each keyed state has in memory.
        last_records_at: when elements last came in, in s of the driver's monotonic clock.
    """

    name: str
    subtasks: int
    records: int
    watermark: int | None
    state_entries: int
    backlog: int | None
    records_per_second: float = 0.0
    subtask: int | None = None
    busy: float = 0.0
    backpressured: float = 0.0
    busy_share: float = 0.0
    backpressured_share: float = 0.0
    states: tuple[StateEntries, ...] = ()
    last_records_at: float | None = None


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job.

    Args:
        job_name: the job's name.
        attempt: how often it was restarted.
        checkpoint: the number of the last checkpoint; None before the first.
        tasks: in the order of the flow.
    """

    job_name: str
    attempt: int
    checkpoint: int | None
    tasks: tuple[TaskProgress, ...]


def event_time(watermark: int) -> int | None:
    """Return a watermark for people: None if there was none."""
    return None if watermark == MIN_TIMESTAMP else watermark


def combine(parts: Iterable[TaskProgress]) -> tuple[TaskProgress, ...]:
    """Return one progress for all subtasks of each task."""
    groups: dict[str, list[TaskProgress]] = {}
    for part in parts:
        groups.setdefault(part.name, []).append(part)
    return tuple(_combined(group) for group in groups.values())


def _combined(group: list[TaskProgress]) -> TaskProgress:
    watermarks = [part.watermark for part in group]
    backlogs = [part.backlog for part in group if part.backlog is not None]
    return TaskProgress(
        name=group[0].name,
        subtasks=sum(part.subtasks for part in group),
        records=sum(part.records for part in group),
        watermark=min((w for w in watermarks if w is not None), default=None)
        if None not in watermarks
        else None,
        state_entries=sum(part.state_entries for part in group),
        backlog=sum(backlogs) if backlogs else None,
        records_per_second=sum(part.records_per_second for part in group),
        busy=max(part.busy for part in group),
        backpressured=max(part.backpressured for part in group),
        busy_share=max(part.busy_share for part in group),
        backpressured_share=max(part.backpressured_share for part in group),
        states=_states(group),
    )


def _states(group: list[TaskProgress]) -> tuple[StateEntries, ...]:
    entries: Counter[tuple[str, str]] = Counter()
    for part in group:
        for state in part.states:
            entries[state.operator, state.state] += state.entries
    return tuple(StateEntries(*place, count) for place, count in entries.items())
