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
    mostly end at a multiple, and the quarter is time for the elements of their end to arrive.

    Args:
        rhythm: how often.
        now: the processing time in ms.
    """

    __slots__ = ("_last", "_rhythm", "_seen")

    def __init__(self, rhythm: WatermarkRhythm, now: int) -> None:
        self._rhythm = rhythm
        self.reset(now)

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
        """True once enough time has passed since the last watermark."""
        milliseconds = self._rhythm.milliseconds
        return milliseconds is not None and not 0 <= now - self._last < milliseconds

    def reset(self, now: int) -> None:
        """Begin the next interval."""
        interval = self._rhythm.milliseconds
        self._last = now - (now - interval // _AFTER_MULTIPLE) % interval if interval else now
        self._seen = 0
