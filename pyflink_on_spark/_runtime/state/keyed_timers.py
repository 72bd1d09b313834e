"""Timers of keys."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from pyflink_on_spark._runtime.state.timer_queue import TimerQueue

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

    def until(self, time: int) -> Iterator[tuple[int, Any, Hashable]]:
        """Take out, in order, what is due at a time (ms); more may be registered meanwhile."""
        return chain.from_iterable(iter(partial(self._queue.pop_due, time), []))


def millisecond_from(micros: int) -> int:
    """Return the first time in ms that is not before a time in microseconds."""
    return -(-micros // _MICROS)
