"""The source that generates elements with a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.builtin.number_sequence import NumberSequence
from pyflink_on_spark._connectors.generator.rate import RateLimit
from pyflink_on_spark._connectors.generator.reader import GeneratorReader
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, share_of
from pyflink_on_spark._runtime.user_code.user_function import (
    UserFunction,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

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
        self, function: UserFunction, count: int, limit: RateLimit | None, produced_type: Any
    ) -> None:
        self._function, self._limit = function, limit
        self._numbers = NumberSequence(0, count - 1) if count > 0 else None
        self.produced_type = produced_type
        # The elements of a slow source have to be visible before its end.
        self.bounded = count < ENDLESS and limit is None

    def splits(self, parallelism: int) -> list[range]:
        return [] if self._numbers is None else self._numbers.splits(parallelism)

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        left = splits if restored is None else share_of(restored, context)
        return GeneratorReader(self._function, left, self._limit, context)
