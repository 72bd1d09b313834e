"""Short definitions of functions that a Python function computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.functions.parameters import always, calling
from pyflink_on_spark._sql.plan.signatures import (
    Nulls,
    Overload,
    Parameter,
    Result,
    ScalarFunction,
)
from pyflink_on_spark._sql.types.logical import LogicalType


def overload(
    parameters: tuple[Parameter, ...],
    result: LogicalType | Result,
    function: Callable[..., Any],
    *,
    nullable: bool = False,
    optional: int = 0,
    variadic: bool = False,
) -> Overload:
    """Return a form of a function that is not called for NULL.

    Args:
        parameters: one for each argument.
        result: the type of the result, or what finds it.
        function: what computes it; one of a module, so that it pickles by reference.
        nullable: whether the result can be NULL although no argument is.
        optional: how many of the last parameters may be left out.
        variadic: whether the last parameter may come any number of times.
    """
    found = always(result) if isinstance(result, LogicalType) else result
    if nullable:
        inner = found
        found = lambda types: inner(types).with_nullable(True)  # noqa: E731
    nulls = Nulls.STRICT_NULLABLE if nullable else Nulls.STRICT
    return Overload(parameters, found, calling(function), nulls, optional, variadic)


def function_of(
    name: str,
    parameters: tuple[Parameter, ...],
    result: LogicalType | Result,
    function: Callable[..., Any],
    *,
    aliases: tuple[str, ...] = (),
    nullable: bool = False,
    optional: int = 0,
    variadic: bool = False,
) -> ScalarFunction:
    """Return a function of one form; for the arguments see ``overload``."""
    form = overload(
        parameters, result, function, nullable=nullable, optional=optional, variadic=variadic
    )
    return ScalarFunction(name, (form,), aliases=aliases)
