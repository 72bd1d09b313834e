"""How many elements a generator may emit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass


class RateLimiter(ABC):
    """Tells one subtask how many elements it may emit; lives as long as the subtask."""

    @abstractmethod
    def take(self, wanted: int, now: int) -> int:
        """Return how many of the wanted elements may be emitted at once, at ``now`` (ms)."""

    def checkpoint_complete(self) -> None:  # noqa: B027 - few care
        """Learn that a checkpoint is complete."""


class RateLimit(ABC):
    """A limit for all subtasks together. Picklable."""

    @abstractmethod
    def share(self, subtask: int, parallelism: int) -> RateLimiter:
        """Return a subtask's limiter."""


@dataclass(frozen=True)
class PerSecond(RateLimit):
    """So many elements in a second.

    Args:
        count: not necessarily a whole number.
    """

    count: float

    def share(self, subtask: int, parallelism: int) -> RateLimiter:
        """Return a limiter to an equal share."""
        return _Evenly(self.count / parallelism)


@dataclass(frozen=True)
class PerCheckpoint(RateLimit):
    """So many elements between two checkpoints.

    Args:
        count: how many, of all subtasks.
    """

    count: int

    def share(self, subtask: int, parallelism: int) -> RateLimiter:
        """Return a limiter to a share; the first ones are larger by one if need be."""
        size, larger = divmod(self.count, parallelism)
        return _UntilCheckpoint(size + (subtask < larger))


class _Evenly(RateLimiter):
    """Lets elements through at equal distances; catches up on a second at most."""

    def __init__(self, per_second: float) -> None:
        self._distance = 1000 / per_second
        self._due: float | None = None

    def take(self, wanted: int, now: int) -> int:
        if self._due is None:
            self._due = float(now)
        # One is always let through when it is due, however long the distance.
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
