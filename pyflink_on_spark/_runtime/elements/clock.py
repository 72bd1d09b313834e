"""Processing time, and the rhythm of watermarks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

_AFTER_MULTIPLE = 4
"""Watermarks come this part of the interval after its multiples."""


class Clock(Protocol):
    """Processing time."""

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        return time.time_ns() // 1_000_000


class SteadyClock:
    """The machine's clock as it was at first, and the time since then: nobody can set it back."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - time.monotonic_ns()

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        return (time.monotonic_ns() + self._offset) // 1_000_000


@dataclass(frozen=True)
class WatermarkRhythm:
    """The rhythm of watermarks; without both limits only the end of input emits one.

    Args:
        elements: the number of elements after which a watermark is due; None for no such limit.
        milliseconds: the processing time after which a watermark is due; None for no such limit.
        event_time: by how much (ms) a row may take the watermark of a table further until one is
            due; None for no such limit.
    """

    elements: int | None = 10_000
    milliseconds: int | None = None
    event_time: int | None = None

    @property
    def never(self) -> bool:
        """True if no watermark is emitted before the end of input."""
        return self.elements is None and self.milliseconds is None


class WatermarkTimer:
    """The time at which the next watermark is due.

    By the clock, one is due a quarter of the interval after each multiple of it. So all subtasks
    emit theirs at the same time, and no receiver waits for the subtask that began last. Windows
    mostly end at a multiple, and the quarter is time for the elements of their end to arrive. The
    first one is due once a whole interval has passed: a small input is over before, whenever it
    began.

    Args:
        rhythm: how often.
        now: the processing time in ms.
    """

    __slots__ = ("_begin", "_due", "_rhythm", "_seen")

    def __init__(self, rhythm: WatermarkRhythm, now: int) -> None:
        self._rhythm = rhythm
        self._begin, self._seen = now, 0
        self._due = self._first_from(now + (rhythm.milliseconds or 0))

    def seen(self, elements: int) -> None:
        """Count elements."""
        self._seen += elements

    def room(self, most: int) -> int:
        """Return how many elements may come before a watermark is due by their number."""
        elements = self._rhythm.elements
        return most if elements is None else max(1, min(most, elements - self._seen))

    def due(self, now: int) -> bool:
        """True if a watermark is due; the caller emits one and calls ``reset``."""
        return self.due_by_count or self.due_by_clock(now)

    @property
    def due_by_count(self) -> bool:
        """True once enough elements were seen since the last watermark."""
        elements = self._rhythm.elements
        return elements is not None and self._seen >= elements

    def due_by_clock(self, now: int) -> bool:
        """True once the time has come, or the clock was set back."""
        return self._rhythm.milliseconds is not None and not self._begin <= now < self._due

    def reset(self, now: int) -> None:
        """Begin the next interval."""
        self._begin, self._due, self._seen = now, self._first_from(now + 1), 0

    def _first_from(self, earliest: int) -> int:
        """Return the first time (ms) that is due for all subtasks, not before ``earliest``."""
        interval = self._rhythm.milliseconds
        if not interval:
            return earliest
        return earliest + (interval // _AFTER_MULTIPLE - earliest) % interval
