"""Processing time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.state.operator_state import OperatorState


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

