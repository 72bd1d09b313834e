"""The source around a generator function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._connectors.generator.rate import RateLimit
from pyflink_on_spark._connectors.builtin.number_sequence import NumberSequence
from pyflink_on_spark._runtime.user_code.user_function import UserFunction, close_function, open_function

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

ENDLESS = 2**63 - 1


class GeneratorSource(Source):
    """What a function makes of the numbers from 0 on.

    Args:
        function: the user's; has a method ``map``, or is called itself.
        count: how many numbers.
        limit: how fast; None: as fast as can be.
        produced_type: the type of the elements, or None.
    """

    def __init__(
        self, function: UserFunction, count: int, limit: RateLimit | None, produced_type: Any
    ) -> None:
        self._function, self._limit = function, limit
        self._numbers = NumberSequence(0, count - 1) if count > 0 else None
        self.produced_type = produced_type
        # What takes its time has to be seen before its end.
        self.bounded = count < ENDLESS and limit is None

    def splits(self, parallelism: int) -> list[range]:
        """Cut the numbers into contiguous ranges."""
        return [] if self._numbers is None else self._numbers.splits(parallelism)

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return what generates one subtask's elements."""
        task = context.task
        left = splits if restored is None else restored[task.subtask_index :: task.parallelism]
        return GeneratorReader(self._function, left, self._limit, context)


class GeneratorReader(SourceReader):
    """One subtask's function.

    Args:
        function: the user's.
        left: the ranges of numbers to make elements of.
        limit: how fast.
        context: the subtask's.
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
        self._make: Callable[[int], Any] = getattr(self._function, "map", self._function)

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Whether all elements were made."""
        return not self._left

    def poll(self) -> Bundle | None:
        """Return the next elements, as many as may be."""
        if not self._left:
            return None
        numbers = self._left[0]
        count = min(self.limit, numbers.stop - numbers.start)
        if self._rate is not None:
            count = self._rate.take(count, self._clock.now())
        if not count:
            return None
        behind = numbers.start + count
        values = list(map(self._make, range(numbers.start, behind)))
        if behind < numbers.stop:
            self._left[0] = range(behind, numbers.stop)
        else:
            self._left.popleft()
        return Bundle(values)

    def snapshot(self) -> list[range]:
        """Return the numbers that are left."""
        return list(self._left)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Let go on what waits for checkpoints."""
        if self._rate is not None:
            self._rate.checkpoint_complete()

    def close(self) -> None:
        """Close the function."""
        function, self._function = self._function, None
        if function is not None:
            close_function(function)
