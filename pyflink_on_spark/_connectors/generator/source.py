"""The source around a generator function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.builtin.number_sequence import NumberSequence
from pyflink_on_spark._connectors.generator.rate import RateLimit
from pyflink_on_spark._connectors.generator.reader import GeneratorReader
from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._runtime.user_code.user_function import (
    UserFunction,
)

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
