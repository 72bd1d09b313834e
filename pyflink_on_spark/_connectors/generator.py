"""The source that generates elements with a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.builtin import NumberSequence
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, share_of
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.user_code import (
    UserFunction,
    close_function,
    open_function,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


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


class GeneratorReader(SourceReader):
    """Generates the elements of one subtask.

    Args:
        function: the user's function.
        left: the ranges of numbers for which to generate elements.
        limit: the largest rate, or None.
        context: the context of the subtask.
    """

    def __init__(
        self,
        function: UserFunction,
        left: Sequence[range],
        limit: RateLimit | None,
        context: OperatorContext,
    ) -> None:
        self._left = deque(left)
        self._clock = context.clock
        task = context.task
        self._rate = limit.share(task.subtask_index, task.parallelism) if limit else None
        self.limit = BUNDLE_SIZE
        self._function = function.load()
        open_function(self._function, context.runtime_context)
        self._make: Callable[[int], object] = getattr(self._function, "map", self._function)

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """True once all elements are generated."""
        return not self._left

    def poll(self) -> Bundle | None:
        """Return as many elements as the rate allows."""
        if not self._left:
            return None
        numbers = self._left[0]
        count = min(self.limit, numbers.stop - numbers.start)
        if self._rate is not None:
            count = self._rate.take(count, self._clock.now())
        if not count:
            return None
        end = numbers.start + count
        make = self._make
        values = [make(number) for number in range(numbers.start, end)]
        if end < numbers.stop:
            self._left[0] = range(end, numbers.stop)
        else:
            self._left.popleft()
        return Bundle(values)

    def snapshot(self) -> list[range]:
        """Return the remaining ranges."""
        return list(self._left)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        if self._rate is not None:
            self._rate.checkpoint_complete()

    def close(self) -> None:
        function, self._function = self._function, None
        if function is not None:
            close_function(function)


ENDLESS = 2**63 - 1


class GeneratorSource(Source):
    """Applies a function to the numbers from 0 on. A split is a range of numbers.

    Args:
        function: the user's function: a callable, or an object with a method ``map``.
        count: the number of elements.
        limit: the largest rate, or None for no limit.
        produced_type: the type of the elements, or None.
    """

    def __init__(
        self, function: UserFunction, count: int, limit: RateLimit | None, produced_type: object
    ) -> None:
        self._function, self._limit = function, limit
        self._numbers = NumberSequence(0, count - 1) if count > 0 else None
        self.produced_type = produced_type
        # The elements of a slow source have to be visible before its end.
        self.bounded = count < ENDLESS and limit is None

    def splits(self, parallelism: int) -> list[range]:
        return [] if self._numbers is None else self._numbers.splits(parallelism)

    def reader(
        self, splits: Sequence[Any], restored: Sequence[object] | None, context: OperatorContext
    ) -> SourceReader:
        left = splits if restored is None else share_of(restored, context)
        return GeneratorReader(self._function, left, self._limit, context)
