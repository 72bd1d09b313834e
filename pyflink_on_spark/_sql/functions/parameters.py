"""The words that functions are defined with: parameters, results, and code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root


def of(*roots: Root) -> Parameter:
    """Take arguments of some kinds as they are, and NULL as the first kind."""

    def check(kind: LogicalType) -> LogicalType | None:
        if kind.root is Root.NULL:
            return default
        return kind.plain() if kind.root in roots else None

    default = _default(roots[0])
    return check


def converted(target: LogicalType, *roots: Root) -> Parameter:
    """Convert arguments of some kinds to one type."""

    def check(kind: LogicalType) -> LogicalType | None:
        return target if kind.root in roots or kind.root in {target.root, Root.NULL} else None

    return check


def any_type(kind: LogicalType) -> LogicalType | None:
    """Take everything."""
    return kind


def _default(root: Root) -> LogicalType:
    if root in logical.CHARACTERS:
        return logical.STRING
    if root in logical.BYTES_LIKE:
        return logical.BYTES
    if root in logical.TIMESTAMPS:
        return LogicalType(root, precision=3)
    return logical.decimal(10) if root is Root.DECIMAL else LogicalType(root)


characters = of(Root.VARCHAR, Root.CHAR)
byte_strings = of(Root.VARBINARY, Root.BINARY)
integers = of(Root.INT, *logical.INTEGERS)
exact = of(Root.INT, *logical.EXACT)
numbers = of(Root.INT, *logical.NUMERIC)
booleans = of(Root.BOOLEAN)
as_text = converted(logical.STRING, *logical.CHARACTERS)
as_int = converted(logical.INT, *logical.INTEGERS)
as_bigint = converted(logical.BIGINT, *logical.INTEGERS)
as_double = converted(logical.DOUBLE, *logical.NUMERIC)


def always(result: LogicalType) -> Result:
    """Give a result of one type."""
    return lambda types: result


def like(index: int = 0) -> Result:
    """Give a result of an argument's type."""
    return lambda types: types[index]


def unified(types: Sequence[LogicalType]) -> LogicalType:
    """Give a result of the type that all arguments have in common."""
    found = common_type(types)
    assert found is not None
    return found


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


_FULL = 38
_AVERAGE_SCALE = 6


def average_type(types: Sequence[LogicalType]) -> LogicalType:
    """Return the type of an average: that of the values, DECIMAL with more digits."""
    (kind,) = types
    if kind.root is Root.DECIMAL:
        kind = logical.decimal(_FULL, max(_AVERAGE_SCALE, kind.scale or 0))
    return kind.with_nullable(True)
