"""The words that functions are defined with: their code, and functions of one form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.codegen.program import Limited
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Code,
    Nulls,
    Overload,
    Parameter,
    Result,
    ScalarFunction,
    Unified,
    always,
)
from pyflink_on_spark._sql.types.logical import LogicalType


def inline(template: str) -> Code:
    """Compute a result by a Python expression; ``{0}`` is the first argument."""

    def code(site: CallSite) -> str:
        return template.format(*site.for_template(template))

    return code


def calling(function: Callable[..., object], name: str | None = None) -> Code:
    """Compute a result by a Python function of a module, by reference."""

    def code(site: CallSite) -> str:
        bound = site.bind(function, name or function.__name__)
        return f"{bound}({', '.join(site.sources())})"

    return code


def overload(
    parameters: tuple[Parameter, ...],
    result: LogicalType | Result,
    function: Callable[..., object],
    *,
    nullable: bool = False,
    optional: int = 0,
    variadic: bool = False,
    unified: Unified | None = None,
) -> Overload:
    """Return a form of a function that is not called for NULL.

    Args:
        parameters: one for each argument.
        result: the type of the result, or what finds it.
        function: what computes it; one of a module, so that it pickles by reference.
        nullable: whether the result can be NULL although no argument is.
        optional: how many of the last parameters may be left out.
        variadic: whether the last parameter may come any number of times.
        unified: the types that arguments have before ``parameters`` looks at them.
    """
    found = always(result) if isinstance(result, LogicalType) else result
    if nullable:
        inner = found
        found = lambda types: inner(types).with_nullable(True)  # noqa: E731
    nulls = Nulls.STRICT_NULLABLE if nullable else Nulls.STRICT
    return Overload(parameters, found, calling(function), nulls, optional, variadic, unified)


def function_of(
    name: str,
    parameters: tuple[Parameter, ...],
    result: LogicalType | Result,
    function: Callable[..., object],
    *,
    aliases: tuple[str, ...] = (),
    nullable: bool = False,
    optional: int = 0,
    variadic: bool = False,
    unified: Unified | None = None,
) -> ScalarFunction:
    """Return a function of one form; for the arguments see ``overload``."""
    form = overload(
        parameters,
        result,
        function,
        nullable=nullable,
        optional=optional,
        variadic=variadic,
        unified=unified,
    )
    return ScalarFunction(name, (form,), aliases=aliases)


def calling_limited(function: Callable[..., object]) -> Code:
    """Compute a result by a Python function that takes limits before its arguments."""
    binding = Limited(function)

    def code(site: CallSite) -> str:
        bound = site.bind(binding, function.__name__)
        return f"{bound}({', '.join(site.sources())})"

    return code


def limited(
    name: str,
    parameters: tuple[Parameter, ...],
    result: LogicalType | Result,
    function: Callable[..., object],
    **form: Any,
) -> ScalarFunction:
    """Return a function of one form that takes limits; for the arguments see ``function_of``."""
    made = function_of(name, parameters, result, function, **form)
    (overload,) = made.overloads
    return replace(made, overloads=(replace(overload, code=calling_limited(function)),))
