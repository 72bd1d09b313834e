"""Cuts bundles where the time to work is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

_LONGEST_SECONDS = 0.005
_MOST = 128


class Pacing:
    """Hands out a bundle in slices until a deadline has passed.

    A chain draws the next slice when it is through with the last one. So the clock is read once for
    each slice, not for each element, and a slow function gets slices of one element.

    Args:
        now: the time in seconds; any clock that never goes back.
    """

    __slots__ = ("_now", "_size", "taken")

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._size = now, 1
        self.taken = 0
        """How many elements were handed out."""

    def slices(self, count: int, deadline: float) -> Iterator[slice]:
        """Yield slices of ``count`` elements, at least one, until the deadline (s) has passed."""
        now, before = self._now, self._now()
        self.taken = 0
        while self.taken < count:
            begin, size = self.taken, self._size
            self.taken = min(begin + size, count)
            yield slice(begin, self.taken)
            after = now()
            took, before = after - before, after
            if took > _LONGEST_SECONDS:
                self._size = max(1, int(size * _LONGEST_SECONDS / took))
            elif size < _MOST:
                self._size = size * 2
            if after >= deadline:
                return
