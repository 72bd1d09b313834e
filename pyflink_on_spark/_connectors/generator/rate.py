"""Limits the rate of a generator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass


class RateLimiter(ABC):
    """Limits the rate of one subtask, and lives as long as the subtask."""

    @abstractmethod
    def take(self, wanted: int, now: int) -> int:
        """Return how many of ``wanted`` elements may be emitted at the time ``now`` (ms)."""

    def checkpoint_complete(self) -> None:  # noqa: B027 - most ignore it
        """Take note that a checkpoint is complete."""


class RateLimit(ABC):
    """Limits the rate of all subtasks together. Picklable."""

    @abstractmethod
    def share(self, subtask: int, parallelism: int) -> RateLimiter:
        """Return the limiter of a subtask."""


@dataclass(frozen=True)
class PerSecond(RateLimit):
    """Limits the number of elements per second.

    Args:
        count: the number, which may have a fraction.
    """

    count: float

    def share(self, subtask: int, parallelism: int) -> RateLimiter:
        """Return a limiter for an equal share."""
        return _Evenly(self.count / parallelism)


@dataclass(frozen=True)
class PerCheckpoint(RateLimit):
    """Limits the number of elements between two checkpoints.

    Args:
        count: the number for all subtasks.
    """

    count: int

    def share(self, subtask: int, parallelism: int) -> RateLimiter:
        """Return a limiter for a share; the first shares may be larger by one."""
        size, larger = divmod(self.count, parallelism)
        return _UntilCheckpoint(size + (subtask < larger))


class _Evenly(RateLimiter):
    """Emits elements at equal distances; after a pause it catches up on at most a second."""

    def __init__(self, per_second: float) -> None:
        self._distance = 1000 / per_second
        self._due: float | None = None

    def take(self, wanted: int, now: int) -> int:
        if self._due is None:
            self._due = float(now)
        # An element that is due is always emitted, however long the distance is.
        self._due = max(self._due, now - max(1000.0, self._distance))
        count = min(wanted, int((now - self._due) // self._distance) + 1) if now >= self._due else 0
        self._due += count * self._distance
        return count


class _UntilCheckpoint(RateLimiter):
    def __init__(self, count: int) -> None:
        self._count = self._left = count

    def take(self, wanted: int, now: int) -> int:
        count = min(wanted, self._left)
        self._left -= count
        return count

    def checkpoint_complete(self) -> None:
        self._left = self._count
