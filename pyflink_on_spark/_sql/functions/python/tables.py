"""Table functions that the user has written in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.compiler.call_site import CallSite
from pyflink_on_spark._sql.functions.python.binding import UserBinding, row_of
from pyflink_on_spark._sql.functions.tables import TableFunction
from pyflink_on_spark._sql.types.logical import LogicalType


class TableBinding(UserBinding):
    """Calls a table function.

    Args:
        function: the function.
        types: the types of the arguments.
        results: the types of the columns.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        results: Sequence[LogicalType],
        names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(function, types, names)
        self._results = tuple(results)

    def caller(self, loaded: Any) -> Any:
        """Return what the code calls."""
        evaluate = getattr(loaded, "eval", loaded)
        arguments, fields = self.arguments(), row_of(self._results)

        def call(*args: Any) -> Iterator[Any]:
            for item in evaluate(*arguments(args)) or ():
                yield fields(item)

        call.owner = loaded  # type: ignore[attr-defined]
        return call


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
        binding = TableBinding(function, site.types, results[1], row_names)
        return f"{site.bind(binding, 'udtf')}({', '.join(site.sources())})"

    return TableFunction(name, lambda types: results, code, deterministic)
