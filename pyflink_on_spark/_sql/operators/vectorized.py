"""Functions of the user's over Series of many rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.functions.context import function_context
from pyflink_on_spark._sql.functions.python.binding import result_of
from pyflink_on_spark._sql.functions.python.pandas_aggregates import plain, series_of
from pyflink_on_spark._sql.types.external import to_python
from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_ROWS = 10_000


class VectorizedCalls(Operator):
    """Adds columns that functions compute of Series.

    Args:
        calls: for each function the function, what computes its arguments of a row, their types,
            and the type of the result.
        changelog: whether elements are pairs of the kind and the row.
    """

    frozen = True

    def __init__(
        self,
        calls: Sequence[tuple[UserFunction, Program, Sequence[LogicalType], LogicalType]],
        changelog: bool,
    ) -> None:
        self._calls, self._changelog = tuple(calls), changelog

    def open(self, context: OperatorContext) -> None:
        """Load and open the functions."""
        self._functions: list[Any] = []
        self._opened: list[Any] = []
        for function, program, types, result in self._calls:
            loaded = function.load()
            opening = getattr(loaded, "open", None)
            if opening is not None:
                opening(function_context(context))
            self._opened.append(loaded)
            evaluate = getattr(loaded, "eval", loaded)
            arguments = program.load(context).function
            self._functions.append((evaluate, arguments, types, result_of(result)))

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with their new columns."""
        while batch := list(islice(elements, _ROWS)):
            rows = [row for _, row in batch] if self._changelog else batch
            columns = [self._column(rows, *parts) for parts in self._functions]
            added = zip(*columns)
            if self._changelog:
                yield from ((kind, row + new) for (kind, row), new in zip(batch, added))
            else:
                yield from (row + new for row, new in zip(rows, added))

    @staticmethod
    def _column(
        rows: list[Any], evaluate: Any, arguments: Any, types: Any, result: Any
    ) -> list[Any]:
        columns = list(zip(*map(arguments, rows)))
        series = []
        for column, kind in zip(columns, types):
            convert = to_python(kind)
            values = [
                value if convert is None or value is None else convert(value) for value in column
            ]
            series.append(series_of(values, kind))
        computed = list(evaluate(*series))
        if len(computed) != len(rows):
            raise ValueError(
                f"The function returned {len(computed)} values for {len(rows)} rows: it has to "
                "return a Series as long as those it got"
            )
        return [result(plain(value)) for value in computed]

    def close(self) -> None:
        """Close the functions."""
        for loaded in getattr(self, "_opened", ()):
            closing = getattr(loaded, "close", None)
            if closing is not None:
                closing()
