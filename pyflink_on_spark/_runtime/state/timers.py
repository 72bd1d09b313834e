"""The timers of keys."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.state.snapshot import Timer
from pyflink_on_spark._runtime.types.codec import time_in_ms

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


_SORTED_FROM = 16
"""If more than one in so many timers is due, all of those are sorted."""
_INTERVAL_BITS = 17
"""Timers that are not due soon wait in intervals of 2**17 ms."""
Owner = tuple[object, Hashable]
"""A key and a namespace."""
_Owners = dict[int, "Owner | dict[Owner, None]"]
"""Who has a timer at a time. Mostly a single owner has, who goes without a dict of its own."""


class TimerQueue:
    """Timers by time (ms), unique by time, key and namespace.

    Those of one time are in the order in which they were registered.

    Timers that are due soon are in a heap. Later ones wait in intervals of two minutes, where a
    timer costs the same however many there are. When the heap is empty, the next interval takes its
    place.

    Args:
        track_changes: whether to note which timers come and go.
    """

    __slots__ = ("_horizon", "_intervals", "_later", "_soon", "_times", "changed")

    def __init__(self, track_changes: bool = False) -> None:
        self._soon: _Owners = {}
        self._times: list[int] = []
        self._horizon = MIN_TIMESTAMP
        """All timers before it are in the heap."""
        self._later: dict[int, _Owners] = {}
        self._intervals: list[int] = []
        self.changed: dict[tuple[int, object, Hashable], None] | None = (
            {} if track_changes else None
        )

    @property
    def times(self) -> Sequence[int]:
        """The times of the timers that are due soon, the earliest first; always the same list.

        A deleted timer may still be in it. It is empty only if there are no timers at all.
        """
        return self._times

    def register(self, time: int, key: object, namespace: Hashable) -> None:
        """Add a timer; nothing happens if it is there already."""
        owner = key, namespace
        if time < self._horizon:
            timers = self._soon
        else:
            timers = self._later.get(time >> _INTERVAL_BITS) or self._begin_interval(time)
        owners = timers.get(time)
        if owners is None:
            timers[time] = owner
            if timers is self._soon:
                heappush(self._times, time)
        elif type(owners) is dict:
            owners[owner] = None
        elif owners != owner:
            timers[time] = {owners: None, owner: None}  # type: ignore[dict-item]
        if self.changed is not None:
            self.changed[time, key, namespace] = None

    def delete(self, time: int, key: object, namespace: Hashable) -> None:
        """Remove a timer; nothing happens if it is not there."""
        owner = key, namespace
        timers = self._timers_around(time)
        owners = timers.get(time)
        if owners is None:
            return
        if type(owners) is dict:
            owners.pop(owner, None)
        elif owners == owner:
            owners = timers[time] = {}
        if not owners and timers is not self._soon:
            del timers[time]
        if self.changed is not None:
            self.changed.pop((time, key, namespace), None)
            self.changed[time, key, namespace] = None

    def earliest(self) -> int | None:
        """Return the time of the earliest timer, or None."""
        times = self._times
        while times and not self._soon[times[0]]:
            del self._soon[heappop(times)]
            if not times:
                self._refill()
        return times[0] if times else None

    def pop_due(self, limit: int) -> list[tuple[int, object, Hashable]]:
        """Take out all timers up to a time: time, key and namespace, the earliest first."""
        due: list[tuple[int, object, Hashable]] = []
        times = self._times
        while times and times[0] <= limit:
            take = self._soon.pop
            for time in self._take_times(limit):
                owners = take(time)
                if type(owners) is dict:
                    due += [(time, *owner) for owner in owners]
                else:
                    key, namespace = owners
                    due.append((time, key, namespace))
            if not times:
                self._refill()
        if self.changed is not None:
            self.changed.update(dict.fromkeys(due))
        return due

    def _take_times(self, limit: int) -> list[int]:
        """Take out of the heap all times up to one, in order.

        When a large part of the heap is due, sorting costs less than taking them out singly.
        """
        times = self._times
        taken: list[int] = []
        few = len(times) // _SORTED_FROM
        while times and times[0] <= limit:
            if len(taken) > few:
                times.sort()  # which leaves a heap
                due = bisect_right(times, limit)
                taken += times[:due]
                del times[:due]
                break
            taken.append(heappop(times))
        return taken

    def _begin_interval(self, time: int) -> _Owners:
        """Return where the timers of a time's interval go, which has none."""
        interval = time >> _INTERVAL_BITS
        timers = self._later.get(interval)
        if timers is not None:
            return timers
        if not self._times:
            self._horizon = (interval + 1) << _INTERVAL_BITS
            return self._soon
        heappush(self._intervals, interval)
        timers = self._later[interval] = {}
        return timers

    def _refill(self) -> None:
        """Fill the empty heap with the first interval that has timers."""
        while self._intervals and not self._times:
            interval = heappop(self._intervals)
            self._horizon = (interval + 1) << _INTERVAL_BITS
            self._soon = self._later.pop(interval)
            self._times += sorted(self._soon)

    def __contains__(self, timer: tuple[int, object, Hashable]) -> bool:
        return timer[1:] in _each(self._timers_around(timer[0]).get(timer[0], {}))

    def __iter__(self) -> Iterator[tuple[int, object, Hashable]]:
        """Yield time, key and namespace of each timer, the earliest first."""
        for timers in (self._soon, *(self._later[each] for each in sorted(self._later))):
            for time in sorted(timers):
                for owner in _each(timers[time]):
                    yield time, *owner

    def _timers_around(self, time: int) -> _Owners:
        if time < self._horizon:
            return self._soon
        return self._later.get(time >> _INTERVAL_BITS, {})


def _each(owners: Owner | dict[Owner, None]) -> Collection[Owner]:
    return owners if type(owners) is dict else (owners,)  # type: ignore[return-value]


class Timers:
    """The timers of an operator's keys, and what time it is there.

    Args:
        clock: processing time.
        track_changes: whether ``changes`` will be asked for.
    """

    __slots__ = ("clock", "event", "processing", "watermark")

    def __init__(self, clock: Clock, track_changes: bool = False) -> None:
        self.clock = clock
        self.event = TimerQueue(track_changes)
        self.processing = TimerQueue(track_changes)
        self.watermark = MIN_TIMESTAMP

    def next_processing_time(self) -> int | None:
        """Return the first time (ms) at which a processing-time timer is due, or None.

        A timer for T is due when the clock shows more than T.
        """
        earliest = self.processing.earliest()
        return None if earliest is None else earliest + 1

    def all(self) -> Iterator[Timer]:
        """Yield all timers."""
        for name, queue in self._queues():
            for timer in queue:
                yield name, *timer

    def apply(self, timer: Timer, present: bool) -> None:
        """Add or remove a timer that was there before a restart; this is not noted as a change."""
        name, time, key, namespace = timer
        queue = dict(self._queues())[name]
        changed, queue.changed = queue.changed, None
        (queue.register if present else queue.delete)(time, key, namespace)
        queue.changed = changed

    def changes(self) -> list[tuple[Timer, bool]]:
        """Return the timers that came or went, and whether each is there."""
        return [
            ((name, *timer), timer in queue)
            for name, queue in self._queues()
            for timer in queue.changed or ()
        ]

    def forget_changes(self) -> None:
        """Let ``changes`` return later changes only."""
        for _, queue in self._queues():
            if queue.changed:
                queue.changed = {}

    def _queues(self) -> tuple[tuple[str, TimerQueue], tuple[str, TimerQueue]]:
        return ("event", self.event), ("processing", self.processing)

    def due_by_watermark(self, watermark: int) -> Iterator[tuple[int, object, Hashable]]:
        """Return the event-time timers that a watermark makes due, with those that come meanwhile.

        All that are due are taken out together: one that is registered or deleted meanwhile changes
        nothing for them.
        """
        return chain.from_iterable(iter(partial(self.event.pop_due, watermark), []))

    def due_by_clock(self, now: int) -> Iterator[tuple[int, object, Hashable]]:
        """Return the processing-time timers that are due, with those that come meanwhile."""
        return chain.from_iterable(iter(partial(self.processing.pop_due, now - 1), []))


class _OperatorTime:
    """Has the time of an operator with timers.

    Args:
        timers: of the operator.
    """

    __slots__ = ("_timers",)

    def __init__(self, timers: Timers) -> None:
        self._timers = timers

    def current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._timers.clock.now()

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self._timers.watermark


class KeyedTimerService(_OperatorTime):
    """The timer service of a function on a keyed stream: the timers of the current key.

    Args:
        timers: of the operator.
        backend: knows the current key, as ``key``.
    """

    __slots__ = ("_backend",)

    def __init__(self, timers: Timers, backend: KeyedStateBackend) -> None:
        super().__init__(timers)
        self._backend = backend

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Ask for a call once the clock has passed a time (ms)."""
        if type(timestamp) is not int or timestamp > MAX_WATERMARK:
            timestamp = time_in_ms(timestamp)
        self._timers.processing.register(timestamp, self._backend.key, None)

    def register_event_time_timer(self, timestamp: int) -> None:
        """Ask for a call once the watermark has reached a time (ms)."""
        if type(timestamp) is not int or timestamp > MAX_WATERMARK:
            timestamp = time_in_ms(timestamp)
        self._timers.event.register(timestamp, self._backend.key, None)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Take back a timer; nothing happens if it is not there."""
        if type(timestamp) is not int or timestamp > MAX_WATERMARK:
            timestamp = time_in_ms(timestamp)
        self._timers.processing.delete(timestamp, self._backend.key, None)

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Take back a timer; nothing happens if it is not there."""
        if type(timestamp) is not int or timestamp > MAX_WATERMARK:
            timestamp = time_in_ms(timestamp)
        self._timers.event.delete(timestamp, self._backend.key, None)


class BroadcastTimerService(_OperatorTime):
    """The timer service for an element without key, on a keyed stream: only the time."""

    __slots__ = ()

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _no_key()

    def register_event_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _no_key()

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _no_key()

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _no_key()


class NonKeyedTimerService:
    """The timer service of a function on a stream without key: only the time.

    Args:
        clock: processing time.
        head: the timers of the operator that heads its chain of Python operators. In PyFlink they
            are in one worker, so event time advances before the head's timers fire.
    """

    __slots__ = ("_clock", "_head", "watermark")

    def __init__(self, clock: Clock, head: Timers | None = None) -> None:
        self._clock, self._head = clock, head
        self.watermark = MIN_TIMESTAMP

    def current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._clock.now()

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        head = self._head
        return self.watermark if head is None else max(self.watermark, head.watermark)

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _not_keyed("Register timers is only supported on a keyed stream.")

    def register_event_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _not_keyed("Register timers is only supported on a keyed stream.")

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _not_keyed("Deleting timers is only supported on a keyed streams.")

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Raise an error."""
        raise _not_keyed("Deleting timers is only supported on a keyed streams.")


def _not_keyed(text: str) -> Exception:
    return RuntimeError(text)


def _no_key() -> Exception:
    return RuntimeError(
        "No key set: a timer belongs to an element's key, and an element of a broadcast stream "
        "has none."
    )


_MICROS = 1000


class KeyedTimers:
    """The timers of an operator over rows, by time (ms), key and namespace.

    They are timers like those of functions: a part of snapshots that moves with its key group.

    Args:
        queue: of the operator's keyed state; for event time, or for the clock.
    """

    __slots__ = ("_queue", "register")

    def __init__(self, queue: TimerQueue) -> None:
        self._queue = queue
        self.register = queue.register
        """``register(time, key, namespace)`` adds a timer; twice is once."""

    def until(self, time: int) -> Iterator[tuple[int, object, Hashable]]:
        """Remove and yield the timers due at a time (ms), in order; more may be registered."""
        return chain.from_iterable(iter(partial(self._queue.pop_due, time), []))


def millisecond_from(micros: int) -> int:
    """Return the first time in ms that is not before a time in microseconds."""
    return -(-micros // _MICROS)
