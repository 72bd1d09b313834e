"""Functions of the user's over Series of many rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.functions.context import function_context
from pyflink_on_spark._sql.functions.python.binding import result_of
from pyflink_on_spark._sql.functions.python.series import (
    checked,
    frame_of,
    series_of,
    values_of,
)
from pyflink_on_spark._sql.runtime.function_bundles import BundlingOperator, FunctionBundle
from pyflink_on_spark._sql.types.external import nullable, to_python
from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_ROWS = 10_000


@dataclass(frozen=True)
class VectorizedCall:
    """A call of a function over Series. Picklable.

    Args:
        name: the function's, for messages.
        function: the function.
        arguments: computes the arguments of a row.
        types: those of the arguments.
        result: the type of the result.
        over_rows: whether the function gets all arguments as one DataFrame.
    """

    name: str
    function: UserFunction
    arguments: Program
    types: tuple[LogicalType, ...]
    result: LogicalType
    over_rows: bool = False


class VectorizedCalls(BundlingOperator):
    """Adds columns that functions compute of Series.

    A bundle of rows is complete before a watermark, too, so that no row becomes late.

    Args:
        calls: the calls.
        changelog: whether elements are pairs of the kind and the row.
        zone: the session's time zone, by name.
        bundle: how many rows functions get at once; None for as many as there are.
    """

    def __init__(
        self,
        calls: Sequence[VectorizedCall],
        changelog: bool,
        zone: str,
        bundle: FunctionBundle | None,
    ) -> None:
        super().__init__(bundle)
        self._calls, self._changelog, self._zone = tuple(calls), changelog, zone

    def open(self, context: OperatorContext) -> None:
        """Load and open the functions."""
        self._now = context.clock.now
        self._opened: list[Any] = []
        self._columns: list[Callable[[list[Any]], list[Any]]] = []
        for call in self._calls:
            loaded = call.function.load()
            opening = getattr(loaded, "open", None)
            if opening is not None:
                opening(function_context(context))
            self._opened.append(loaded)
            evaluate = getattr(loaded, "eval", loaded)
            arguments = call.arguments.load(context).function
            self._columns.append(self._column(call, evaluate, arguments))

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Finish the bundle before the watermark."""
        return self.finish_bundle()

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with their new columns."""
        while batch := list(islice(elements, _ROWS)):
            rows = [row for _, row in batch] if self._changelog else batch
            added = zip(*(column(rows) for column in self._columns))
            if self._changelog:
                yield from ((kind, row + new) for (kind, row), new in zip(batch, added))
            else:
                yield from (row + new for row, new in zip(rows, added))

    def _column(
        self, call: VectorizedCall, evaluate: Any, arguments: Any
    ) -> Callable[[list[Any]], list[Any]]:
        """Return what computes a function's column of some rows."""
        zone = self._zone
        converters = [nullable(to_python(kind, zone)) for kind in call.types]
        result = result_of(call.result)

        def column(rows: list[Any]) -> list[Any]:
            series = []
            for values, kind, convert in zip(zip(*map(arguments, rows)), call.types, converters):
                plain = values if convert is None else list(map(convert, values))
                series.append(series_of(plain, kind, zone))
            args = [frame_of(series)] if call.over_rows else series
            computed = checked(evaluate(*args), call.name, len(rows))
            return list(map(result, values_of(computed, call.result, zone)))

        return column

    def close(self) -> None:
        """Close the functions."""
        for loaded in getattr(self, "_opened", ()):
            closing = getattr(loaded, "close", None)
            if closing is not None:
                closing()
