"""=, <>, <, and what else compares."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.parameters import any_type, inline
from pyflink_on_spark._sql.plan.signatures import CallSite, Code, Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import comparable_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_UNORDERED = frozenset(
    {Root.MAP, Root.MULTISET, Root.ARRAY, Root.ROW, Root.RAW, Root.VARIANT, Root.BITMAP}
)


def _ordered(kind: LogicalType) -> LogicalType | None:
    return None if kind.root in _UNORDERED else kind


def equatable_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the type in which two values can be equal; unlike an order, it reads no number."""
    one, two = types
    kinds = {one.root in logical.CHARACTERS, two.root in logical.CHARACTERS}
    if len(kinds) == 2 and (one.root in logical.NUMERIC or two.root in logical.NUMERIC):
        raise ValidationError(
            f"implicit type conversion between {_name(one)} and {_name(two)} is not supported now"
        )
    return comparable_type(types)


def _name(kind: LogicalType) -> str:
    return "INTEGER" if kind.root is Root.INT else kind.root.value


def _boolean(_types: Sequence[LogicalType]) -> LogicalType:
    return logical.BOOLEAN


def _forms(name: str) -> tuple[str, ...]:
    return (f"'<COMPARABLE_TYPE> {name} <COMPARABLE_TYPE>'",)


def _comparison(name: str, operator: str, *, ordered: bool) -> ScalarFunction:
    parameter = _ordered if ordered else any_type
    overload = Overload(
        (parameter, parameter),
        _boolean,
        inline(f"{{0}} {operator} {{1}}"),
        unified=comparable_type if ordered else equatable_type,
    )
    return ScalarFunction(name, (overload,), _forms(name))


def _between(negated: bool) -> ScalarFunction:
    def code(site: CallSite) -> str:
        value, lower, upper = site.atoms()
        inside = f"{lower} <= {value} <= {upper}"
        if site.symbols:
            inside = f"({inside} or {upper} <= {value} <= {lower})"
        return f"not {inside}" if negated else inside

    def three_valued(site: CallSite) -> str:
        """A value below the lower bound is outside, also where the upper bound is NULL."""
        value, lower, upper = site.atoms()
        if not any(kind.nullable for kind in site.types):
            return code(site)
        outside, inside = ("True", "False") if negated else ("False", "True")
        result = (
            f"None if {value} is None else "
            f"{outside} if ({lower} is not None and {value} < {lower}) "
            f"or ({upper} is not None and {value} > {upper}) "
            f"else None if {lower} is None or {upper} is None else {inside}"
        )
        if not site.symbols:
            return result
        return f"None if {value} is None or {lower} is None or {upper} is None else {code(site)}"

    def result(types: Sequence[LogicalType]) -> LogicalType:
        return logical.BOOLEAN.with_nullable(any(kind.nullable for kind in types))

    name, one = "NOT BETWEEN" if negated else "BETWEEN", "<COMPARABLE_TYPE>"
    overload = Overload(
        (_ordered, _ordered, _ordered), result, three_valued, Nulls.CALLED, unified=comparable_type
    )
    return ScalarFunction(name, (overload,), (f"'{one} {name} {one} AND {one}'",))


def _in(negated: bool) -> Code:
    def code(site: CallSite) -> str:
        found, missing = ("False", "True") if negated else ("True", "False")
        value = site.atom(0)
        items = [site.source(index) for index in range(1, len(site.args))]
        try:
            constants = {site.constant(index) for index in range(1, len(site.args))}
        except (LookupError, TypeError):
            listed = f"({', '.join(items)},)"
            unknown = any(kind.nullable for kind in site.types[1:])
        else:
            unknown = None in constants
            listed = site.bind(frozenset(constants - {None}), "items")
        name = site.temporary()
        if not unknown:
            test = f"{value} {'not in' if negated else 'in'} {listed}"
            return f"None if {value} is None else {test}" if site.types[0].nullable else test
        if "(" not in listed:
            return f"None if {value} is None else {found} if {value} in {listed} else None"
        return (
            f"None if {value} is None else {found} if {value} in ({name} := {listed}) "
            f"else None if None in {name} else {missing}"
        )

    return code


def _membership(negated: bool) -> ScalarFunction:
    def result(types: Sequence[LogicalType]) -> LogicalType:
        return logical.BOOLEAN.with_nullable(any(kind.nullable for kind in types))

    name = "NOT IN" if negated else "IN"
    overload = Overload(
        (any_type, any_type),
        result,
        _in(negated),
        Nulls.CALLED,
        variadic=True,
        unified=comparable_type,
    )
    return ScalarFunction(name, (overload,))


def _distinct(name: str, operator: str) -> ScalarFunction:
    def result(_types: Sequence[LogicalType]) -> LogicalType:
        return logical.BOOLEAN.with_nullable(False)

    overload = Overload(
        (any_type, any_type),
        result,
        inline(f"{{0}} {operator} {{1}}"),
        Nulls.CALLED,
        unified=equatable_type,
    )
    return ScalarFunction(name, (overload,), _forms(name))


FUNCTIONS = (
    _comparison("=", "==", ordered=False),
    _comparison("<>", "!=", ordered=False),
    _comparison("<", "<", ordered=True),
    _comparison(">", ">", ordered=True),
    _comparison("<=", "<=", ordered=True),
    _comparison(">=", ">=", ordered=True),
    _between(negated=False),
    _between(negated=True),
    _membership(negated=False),
    _membership(negated=True),
    _distinct("IS DISTINCT FROM", "!="),
    _distinct("IS NOT DISTINCT FROM", "=="),
)
