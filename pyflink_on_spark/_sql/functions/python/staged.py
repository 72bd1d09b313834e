"""Scalar functions of the user's that an operator of their own calls."""

from __future__ import annotations

from typing import NoReturn

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.errors import not_yet
from pyflink_on_spark._sql.functions.parameters import any_type
from pyflink_on_spark._sql.plan.signatures import CallSite, Nulls, Overload, ScalarFunction
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
        over_rows: whether it gets all columns as one DataFrame.
    """

    over_rows: bool

    def __init__(
        self,
        name: str,
        function: UserFunction,
        result: LogicalType,
        *,
        deterministic: bool,
        over_rows: bool = False,
    ) -> None:
        super().__init__(name, function, result, deterministic=deterministic)
        object.__setattr__(self, "over_rows", over_rows)


class AsyncFunction(StagedFunction):
    """A coroutine function; several of its calls are in flight."""
