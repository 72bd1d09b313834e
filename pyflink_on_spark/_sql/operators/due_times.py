"""Remembers which keys something is due for at which time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Any


class DueTimes:
    """Keys by time. Not part of a snapshot: an operator builds it from its state in ``open``."""

    def __init__(self) -> None:
        self._times: list[int] = []
        self._keys: dict[int, dict[Hashable, None]] = {}

    def add(self, time: int, key: Any) -> None:
        """Note that something is due for a key; twice is once."""
        keys = self._keys.get(time)
        if keys is None:
            keys = self._keys[time] = {}
            heappush(self._times, time)
        keys[key] = None

    def until(self, time: int) -> Iterator[tuple[int, Any]]:
        """Yield, in order and once, what is due at a time at the latest; more may be added."""
        while self._times and self._times[0] <= time:
            due = heappop(self._times)
            for key in self._keys.pop(due):
                yield due, key
