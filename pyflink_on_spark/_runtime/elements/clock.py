"""Processing time."""

from __future__ import annotations

import time
from typing import Protocol


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
