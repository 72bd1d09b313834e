"""Casts of arrays, maps and rows: each element is cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.compiler.program import Binding
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.types.logical import LogicalType, Root

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


class CompositeCast(Binding):
    """Makes the function that casts values of one composite type to another.

    Args:
        source: the type of the values.
        target: of the same kind.
        lenient: whether elements that cannot be converted are NULL.
    """

    def __init__(self, source: LogicalType, target: LogicalType, lenient: bool) -> None:
        self._source, self._target, self._lenient = source, target, lenient

    def load(self, context: OperatorContext | None) -> Any:
        """Return the function."""
        pairs = zip(self._source.children, self._target.children)
        casts = [_element_cast(source, target, self._lenient) for source, target in pairs]
        if self._target.root is Root.ROW:
            return lambda row: tuple([cast(value) for cast, value in zip(casts, row)])
        if self._target.root is Root.ARRAY:
            return lambda array: tuple(map(casts[0], array))
        key = casts[0]
        if self._target.root is Root.MULTISET:
            return lambda counts: {key(item): count for item, count in counts.items()}
        value = casts[1]
        return lambda entries: {key(name): value(item) for name, item in entries.items()}


def _element_cast(source: LogicalType, target: LogicalType, lenient: bool) -> Callable[[Any], Any]:
    # The compiler of expressions needs the casts in turn.
    from pyflink_on_spark._sql.compiler.rows import compile_value

    cast = Conversion(target, InputRef(source.with_nullable(True), 0), lenient)
    function = compile_value(cast, 1, "UTC").load().function
    return lambda value: function((value,))
