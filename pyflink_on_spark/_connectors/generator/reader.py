"""Calls a generator function in one subtask."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.generator.rate import RateLimit
from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.connector import SourceReader
from pyflink_on_spark._runtime.user_code.user_function import (
    UserFunction,
    close_function,
    open_function,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


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
