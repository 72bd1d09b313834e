"""Table functions that the user has written in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.functions.python.binding import Arguments, CallBinding, Convert
from pyflink_on_spark._sql.plan.signatures import CallSite, TableFunction
from pyflink_on_spark._sql.types.logical import LogicalType


class TableBinding(CallBinding):
    """Calls a table function."""

    def call(self, evaluate: Any, arguments: Arguments, result: Convert) -> Any:
        """Return a function that yields the rows for a row's arguments."""

        def rows(*args: Any) -> Iterator[Any]:
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
    """Return a table function of the user's.

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
