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
