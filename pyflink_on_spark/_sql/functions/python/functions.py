"""Scalar and table functions that the user has written in Python."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._sql.errors import not_yet
from pyflink_on_spark._sql.functions.python.binding import Arguments, CallBinding, Convert
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Nulls,
    Overload,
    ScalarFunction,
    TableFunction,
    any_type,
)
from pyflink_on_spark._sql.types.logical import LogicalType


class StagedFunction(ScalarFunction):
    """A function whose results are columns before the expressions that use them are computed.

    Args:
        name: for messages.
        function: what computes it.
        result: the type of its result.
        deterministic: whether it always has the same result for the same arguments.
    """

    function: UserFunction

    def __init__(
        self,
        name: str,
        function: UserFunction,
        result: LogicalType,
        *,
        deterministic: bool,
    ) -> None:
        def code(_site: CallSite) -> NoReturn:
            not_yet(f"the function {name} in such a place", None, "Compute a column with it first.")

        forms = (
            Overload((), lambda types: result, code, Nulls.CALLED),
            Overload((any_type,), lambda types: result, code, Nulls.CALLED, variadic=True),
        )
        super().__init__(name, forms, deterministic=deterministic, foldable=False)
        object.__setattr__(self, "function", function)


class VectorizedFunction(StagedFunction):
    """A function that takes Series of many rows, and gives one.

    Args:
        name: for messages.
        function: what computes it.
        result: the type of its result.
        deterministic: whether it always has the same result for the same arguments.
        row_names: the names of all columns, if it gets them as one DataFrame.
    """

    row_names: tuple[str, ...] | None

    def __init__(
        self,
        name: str,
        function: UserFunction,
        result: LogicalType,
        *,
        deterministic: bool,
        row_names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(name, function, result, deterministic=deterministic)
        object.__setattr__(self, "row_names", row_names)


class AsyncFunction(StagedFunction):
    """A coroutine function; several of its calls are in flight."""


class ScalarBinding(CallBinding):
    """Calls a scalar function."""

    def call(self, evaluate: Any, arguments: Arguments, result: Convert) -> Any:
        """Return a function that gives the value for a row's arguments."""

        def value(*args: Any) -> Any:
            return result(evaluate(*arguments(args)))

        return value


def python_scalar(
    name: str,
    function: UserFunction,
    result: LogicalType,
    *,
    deterministic: bool,
    row_names: tuple[str, ...] | None = None,
) -> ScalarFunction:
    """Return a scalar function in Python.

    Args:
        name: for messages.
        function: what computes it.
        result: the type of its result.
        deterministic: whether it always has the same result for the same arguments.
        row_names: the names of all columns, if it gets them as one row.
    """

    def code(site: CallSite) -> str:
        binding = ScalarBinding(function, site.types, result, site.time_zone, row_names)
        return f"{site.bind(binding, 'udf')}({', '.join(site.sources())})"

    forms = (
        Overload((), lambda types: result, code, Nulls.CALLED),
        Overload((any_type,), lambda types: result, code, Nulls.CALLED, variadic=True),
    )
    return ScalarFunction(
        name, forms, deterministic=deterministic, foldable=False, exact_decimals=True
    )


class TableBinding(CallBinding):
    """Calls a table function."""

    def call(self, evaluate: Any, arguments: Arguments, result: Convert) -> object:
        """Return a function that yields the rows for a row's arguments."""

        def rows(*args: Any) -> Iterator[object]:
            for item in evaluate(*arguments(args)) or ():
                yield result(item)

        return rows


def python_table(
    name: str,
    function: UserFunction,
    results: tuple[tuple[str, ...], tuple[LogicalType, ...]],
    *,
    deterministic: bool,
    row_names: tuple[str, ...] | None = None,
) -> TableFunction:
    """Return a table function in Python.

    Args:
        name: for messages.
        function: what gives the rows.
        results: the names and the types of its columns.
        deterministic: whether it always has the same rows for the same arguments.
        row_names: the names of all columns, if it gets them as one row.
    """

    def code(site: CallSite) -> str:
        binding = TableBinding(function, site.types, results[1], site.time_zone, row_names)
        return f"{site.bind(binding, 'udtf')}({', '.join(site.sources())})"

    return TableFunction(name, lambda types: results, code, deterministic)


class AsyncBinding(CallBinding):
    """Calls a coroutine function."""

    def call(self, evaluate: Any, arguments: Arguments, result: Convert) -> object:
        """Return a coroutine function of the list of all arguments."""

        async def value(args: Sequence[Any]) -> object:
            found = evaluate(*arguments(args))
            return result(await found if asyncio.iscoroutine(found) else found)

        return value
