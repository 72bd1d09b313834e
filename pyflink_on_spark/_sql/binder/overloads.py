"""Which form of a function takes some arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pyflink_on_spark._sql.errors import Span, invalid
from pyflink_on_spark._sql.plan.expressions import Constant, Conversion, Invocation, Typed
from pyflink_on_spark._sql.plan.signatures import Nulls, Overload, Parameter, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_CALCITE_NAMES = {Root.INT: "INTEGER", Root.TIMESTAMP_LTZ: "TIMESTAMP_WITH_LOCAL_TIME_ZONE"}
_PREFIXES = frozenset({"+", "-", "NOT"})
_MEMBERSHIPS = frozenset({"IN", "NOT IN"})
_INFIXES = frozenset({"AND", "OR", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"})


def invoke(
    function: ScalarFunction,
    args: Sequence[Typed],
    symbols: tuple[str, ...] = (),
    span: Span | None = None,
) -> Typed:
    """Return a function of some arguments, converted as the function wants them.

    Args:
        function: the function.
        args: the arguments.
        symbols: keywords among them.
        span: where the call is.

    Raises:
        ValidationError: the function does not take such arguments.
    """
    fitting = [overload for overload in function.overloads if overload.takes(len(args))]
    if not fitting:
        raise invalid(wrong_count(function), span)
    for overload in fitting:
        converted = convert_args(overload, args)
        if converted is not None:
            return Invocation(
                _result_type(overload, converted, symbols), function, overload, converted, symbols
            )
    raise invalid(wrong_types(function, args, symbols), span)


def convert(expression: Typed, target: LogicalType) -> Typed:
    """Return an expression of another type; what is NULL stays so."""
    target = target.with_nullable(expression.type.nullable).plain()
    if isinstance(expression, Constant) and expression.value is None:
        return Constant(target.with_nullable(True), None)
    if expression.type.same_values(target):
        return expression
    return Conversion(target, expression)


class Form(Protocol):
    """What the forms of scalar and of aggregate functions have in common."""

    def parameter(self, index: int) -> Parameter:
        """Return the parameter for an argument."""
        ...


def convert_args(overload: Form, args: Sequence[Typed]) -> tuple[Typed, ...] | None:
    """Return arguments as a form of a function takes them; None if it does not."""
    unified = getattr(overload, "unified", None)
    if unified is not None and args:
        common = unified([arg.type for arg in args])
        if common is None:
            return None
        args = [convert(arg, common) for arg in args]
    converted: list[Typed] = []
    for index, arg in enumerate(args):
        wanted = overload.parameter(index)(arg.type)
        if wanted is None:
            return None
        converted.append(convert(arg, wanted))
    return tuple(converted)


def _result_type(
    overload: Overload, args: Sequence[Typed], symbols: tuple[str, ...]
) -> LogicalType:
    if overload.shape is None:
        result = overload.result([arg.type for arg in args])
    else:
        result = overload.shape(args, symbols)
    if overload.nulls is Nulls.CALLED:
        return result
    nullable = any(arg.type.nullable for arg in args)
    if overload.nulls is Nulls.STRICT_NULLABLE:
        nullable = nullable or result.nullable
    return result.with_nullable(nullable).plain()


def wrong_count(function: Any) -> str:
    """Return the message for a wrong number of arguments."""
    counts = sorted(
        {
            count
            for overload in function.overloads
            for count in range(
                len(overload.parameters) - overload.optional, len(overload.parameters) + 1
            )
        }
    )
    wanted = ", ".join(map(str, counts))
    more = (
        " or more" if any(getattr(form, "variadic", False) for form in function.overloads) else ""
    )
    return (
        f"Invalid number of arguments to function '{function.name}'. "
        f"Was expecting {wanted}{more} arguments"
    )


def wrong_types(function: Any, args: Sequence[Typed], symbols: tuple[str, ...] = ()) -> str:
    """Return the message for arguments of wrong types."""
    types = [f"<{calcite_name(arg.type).upper()}>" for arg in args]
    name = function.name.removeprefix("UNARY ")
    if name in _MEMBERSHIPS:
        return "Values passed to IN operator must have compatible types"
    if name.endswith("BETWEEN"):
        name = f"{name} {'SYMMETRIC' if symbols else 'ASYMMETRIC'}"
        written = f"{types[0]} {name} {types[1]} AND {types[2]}"
    elif name.startswith("IS ") and len(types) == 1:
        written = f"{types[0]} {name}"
    elif name in _PREFIXES and len(types) == 1:
        written = f"{name}{types[0]}"
    elif len(types) == 2 and (function.is_operator or name in _INFIXES):
        written = f"{types[0]} {name} {types[1]}"
    else:
        written = f"{name}({', '.join(types)})"
    shown = "\n".join(function.forms)
    forms = f". Supported form(s): {shown}" if shown else ""
    return f"Cannot apply '{name}' to arguments of type '{written}'{forms}"


def calcite_name(kind: LogicalType) -> str:
    """Return a type's name as error messages have it."""
    inner = [calcite_name(child) for child in kind.children]
    if kind.root in {Root.ARRAY, Root.MULTISET}:
        return f"{inner[0]} {kind.root.value}"
    if kind.root is Root.MAP:
        return f"({inner[0]}, {inner[1]}) MAP"
    if kind.root is Root.ROW:
        fields = ", ".join(f"{child} {name}" for child, name in zip(inner, kind.names))
        return f"RecordType:peek_no_expand({fields})"
    name = _CALCITE_NAMES.get(kind.root)
    if name is None:
        return kind.text(string=f"VARCHAR({logical.MAX_LENGTH})", nullability=False)
    return name if kind.precision is None else f"{name}({kind.precision})"
