"""Scalar functions that the user has written in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.compiler.call_site import CallSite
from pyflink_on_spark._sql.functions.definition import Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.functions.parameters import any_type
from pyflink_on_spark._sql.functions.python.binding import UserBinding, result_of
from pyflink_on_spark._sql.types.logical import LogicalType


class ScalarBinding(UserBinding):
    """Calls a scalar function.

    Args:
        function: the function.
        types: the types of the arguments.
        result: the type of the result.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        result: LogicalType,
        names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(function, types, names)
        self._result = result

    def caller(self, loaded: Any) -> Any:
        """Return what the code calls."""
        evaluate = getattr(loaded, "eval", loaded)
        arguments, result = self.arguments(), result_of(self._result)

        def call(*args: Any) -> Any:
            return result(evaluate(*arguments(args)))

        call.owner = loaded  # type: ignore[attr-defined]
        return call


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
        binding = ScalarBinding(function, site.types, result, row_names)
        return f"{site.bind(binding, 'udf')}({', '.join(site.sources())})"

    forms = (
        Overload((), lambda types: result, code, Nulls.CALLED),
        Overload((any_type,), lambda types: result, code, Nulls.CALLED, variadic=True),
    )
    return ScalarFunction(name, forms, deterministic=deterministic, foldable=False)
