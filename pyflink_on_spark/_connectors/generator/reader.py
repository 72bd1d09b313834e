"""Calls a generator function in one subtask."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.generator.rate import RateLimit
from pyflink_on_spark._runtime.contract.connector import SourceReader
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.user_code.user_function import (
    UserFunction,
    close_function,
    open_function,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


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
        self._make: Callable[[int], Any] = getattr(self._function, "map", self._function)

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Whether all elements are generated."""
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
