"""How long the writers of a process wait when their job is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

_SECONDS = 8.0
"""Less than the time after which a process that has been told to end is killed."""


class ShutdownBudget:
    """Seconds that several may spend, one after the other.

    Args:
        seconds: how many there are together.
        clock: returns the time in seconds.
    """

    def __init__(
        self, seconds: float = _SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._left, self._clock = seconds, clock

    @contextmanager
    def spent(self) -> Iterator[float]:
        """Give what is left, and take off what the block needs."""
        started = self._clock()
        try:
            yield max(0.0, self._left)
        finally:
            self._left -= self._clock() - started


_of_attempts: WeakValueDictionary[tuple[str, int], ShutdownBudget] = WeakValueDictionary()


def patience_of(job_id: str, attempt: int) -> ShutdownBudget:
    """Return what all in this process share that belong to one attempt of a job.

    It lasts as long as one of them holds it.
    """
    return _of_attempts.setdefault((job_id, attempt), ShutdownBudget())
