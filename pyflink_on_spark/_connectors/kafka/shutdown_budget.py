"""How long the writers of a process may wait while their job stops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

_SECONDS = 8.0
"""Less than the time that a process gets to end before it is killed."""


class ShutdownBudget:
    """Seconds that several writers spend one after the other.

    Args:
        seconds: the seconds for all writers together.
        clock: returns the time in seconds.
    """

    def __init__(
        self, seconds: float = _SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._left, self._clock = seconds, clock

    @contextmanager
    def spend(self) -> Iterator[float]:
        """Yield the seconds that are left, and subtract the duration of the block."""
        started = self._clock()
        try:
            yield max(0.0, self._left)
        finally:
            self._left -= self._clock() - started


_budgets: WeakValueDictionary[tuple[str, int], ShutdownBudget] = WeakValueDictionary()


def shutdown_budget_of(job_id: str, attempt: int) -> ShutdownBudget:
    """Return the budget that all writers of one attempt of a job share in this process.

    The budget lives as long as one of them refers to it.
    """
    return _budgets.setdefault((job_id, attempt), ShutdownBudget())
