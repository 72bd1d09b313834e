"""The timers of keys."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.clock import Clock
from pyflink_on_spark._runtime.state.snapshot import Timer
from pyflink_on_spark._runtime.state.timer_queue import TimerQueue
from pyflink_on_spark._runtime.types.int64 import time_in_ms


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

    def due_by_watermark(self, watermark: int) -> Iterator[tuple[int, Any, Hashable]]:
        """Return the event-time timers that a watermark makes due, with those that come meanwhile.

        All that are due are taken out together: one that is registered or deleted meanwhile changes
        nothing for them.
        """
        return chain.from_iterable(iter(partial(self.event.pop_due, watermark), []))

    def due_by_clock(self, now: int) -> Iterator[tuple[int, Any, Hashable]]:
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
    """What a function on a keyed stream uses: the timers of the current key.

    Args:
        timers: of the operator.
        backend: knows the current key, as ``key``.
    """

    __slots__ = ("_backend",)

    def __init__(self, timers: Timers, backend: Any) -> None:
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
    """What a function on a keyed stream uses for an element without key: only the time."""

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
    """What a function on a stream without key uses: it can only tell the time.

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
