"""Calls of Python functions that take bundles, wait, or take columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.async_wait import AsyncWaitOperator
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._sql.codegen.program import Binding, Program
from pyflink_on_spark._sql.functions.python.binding import function_context, result_of
from pyflink_on_spark._sql.functions.python.series import checked, frame_of, series_of, values_of
from pyflink_on_spark._sql.runtime.rows import BundlingOperator, FunctionBundle
from pyflink_on_spark._sql.types.external import nullable, to_python
from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


@dataclass(frozen=True)
class AsyncSettings:
    """The settings of asynchronous calls.

    Args:
        capacity: how many may be in flight.
        timeout: how long all attempts for a row may take together, in ms.
        attempts: how many attempts may follow the first one; 0 for none.
        delay: the time before each of them, in ms.
    """

    capacity: int
    timeout: int
    attempts: int
    delay: int


class AsyncCalls(AsyncWaitOperator):
    """Adds a column that a coroutine function computes, in the order of the rows.

    Args:
        binding: loads the function.
        arguments: computes the arguments of a row.
        settings: how calls are made.
        changelog: whether elements are pairs of the kind and the row.
    """

    emits_immutable = True

    def __init__(
        self, binding: Binding, arguments: Program, settings: AsyncSettings, changelog: bool
    ) -> None:
        self._timeout, self._capacity, self._ordered = settings.timeout, settings.capacity, True
        self._binding, self._arguments, self._changelog = binding, arguments, changelog
        self._settings = settings
        self._event_loop = self._loaded = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the function, start the event loop."""
        self._context, self._cursor = context, context.cursor
        self._program = self._arguments.load(context)
        self._function = self._binding.load(context)
        self._loaded = _Calls(self._function, self._program.function, self._changelog)
        self._strategy = _FixedDelay(self._settings) if self._settings.attempts else None
        self._begin(context)

    def close(self) -> None:
        """Cancel the calls in flight, close the function."""
        if self._event_loop is not None:
            self._event_loop.stop()
        if self._loaded is not None:
            self._binding.close(self._function)
            self._program.close()


class _Calls:
    """The function as the operator calls it: of an element."""

    def __init__(self, function: Any, arguments: Any, changelog: bool) -> None:
        self._function, self._arguments, self._changelog = function, arguments, changelog

    async def async_invoke(self, value: Any) -> list[object]:
        if self._changelog:
            kind, row = value
            return [(kind, (*row, await self._function(self._arguments(row))))]
        return [(*value, await self._function(self._arguments(value)))]

    def timeout(self, value: Any) -> list[Any]:
        row = value[1] if self._changelog else value
        raise TimeoutError(
            f"Async function call has timed out for input: {list(self._arguments(row))}"
        )


class _FixedDelay:
    """Makes a number of further attempts after any error."""

    def __init__(self, settings: AsyncSettings) -> None:
        self._settings = settings

    def can_retry(self, attempts: int) -> bool:
        return attempts <= self._settings.attempts

    def get_backoff_time_millis(self, attempts: int) -> int:
        return self._settings.delay

    def get_retry_predicate(self) -> _FixedDelay:
        return self

    def exception_predicate(self) -> object:
        return lambda _: True

    def result_predicate(self) -> None:
        return None


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
        row_names: the names of the columns, if the function gets all as one DataFrame.
    """

    name: str
    function: UserFunction
    arguments: Program
    types: tuple[LogicalType, ...]
    result: LogicalType
    row_names: tuple[str, ...] | None = None


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
        self._opened: list[object] = []
        self._columns: list[Callable[[list[Any]], list[object]]] = []
        for call in self._calls:
            loaded = call.function.load()
            opening = getattr(loaded, "open", None)
            if opening is not None:
                opening(function_context(context))
            self._opened.append(loaded)
            evaluate = getattr(loaded, "eval", loaded)
            arguments = call.arguments.load(context).function
            self._columns.append(self._column(call, evaluate, arguments))

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Finish the bundle before the watermark."""
        return self.finish_bundle()

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[object]:
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
    ) -> Callable[[list[object]], list[object]]:
        """Return the function that computes a column of a vectorized function for some rows."""
        zone = self._zone
        converters = [nullable(to_python(kind, zone)) for kind in call.types]
        result = result_of(call.result)

        def column(rows: list[Any]) -> list[object]:
            series = []
            for values, kind, convert in zip(zip(*map(arguments, rows)), call.types, converters):
                plain = values if convert is None else list(map(convert, values))
                series.append(series_of(plain, kind, zone))
            names = call.row_names
            args = series if names is None else [frame_of(series, names)]
            computed = checked(evaluate(*args), call.name, len(rows))
            return list(map(result, values_of(computed, call.result, zone)))

        return column

    def close(self) -> None:
        """Close the functions."""
        for loaded in getattr(self, "_opened", ()):
            closing = getattr(loaded, "close", None)
            if closing is not None:
                closing()
