"""Scalar functions that the user has written in Python."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.functions.parameters import any_type
from pyflink_on_spark._sql.functions.python.binding import Arguments, CallBinding, Convert
from pyflink_on_spark._sql.plan.signatures import CallSite, Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types.logical import LogicalType


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
    """Return a scalar function of the user's.

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
    return ScalarFunction(name, forms, deterministic=deterministic, foldable=False)
