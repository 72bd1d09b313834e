"""Comparison, logic, conditions, and OVERLAPS."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.definitions import calling, inline
from pyflink_on_spark._sql.plan.expressions import InputRef, convert
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Code,
    Nulls,
    Overload,
    ScalarFunction,
    any_type,
    booleans,
    of,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import (
    common_type,
    comparable_type,
    least_restrictive,
    merged_type,
)
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_UNORDERED = frozenset(
    {Root.MAP, Root.MULTISET, Root.ARRAY, *logical.ROWS, Root.RAW, Root.VARIANT, Root.BITMAP}
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
    found = comparable_type(types)
    roots = {one.root, two.root}
    if found is None and Root.STRUCTURED in roots and roots <= set(logical.ROWS):
        what = "structured types" if one.root is two.root else "types"
        raise ValidationError(f"Incompatible {what}: {one} and {two}.")
    return found


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


_COMPARISON = (
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


_NEVER_NULL = logical.BOOLEAN.with_nullable(False)


def _any_null(types: Sequence[LogicalType]) -> LogicalType:
    return logical.BOOLEAN.with_nullable(any(kind.nullable for kind in types))


def _joined(operator: str, decided: str) -> Code:
    """Return code for AND or OR, which one operand may decide for itself."""

    def code(site: CallSite) -> str:
        one, two = site.sources()
        if not any(kind.nullable for kind in site.types):
            return f"{one} {operator} {two}"
        first, second = site.temporary(), site.temporary()
        return (
            f"{decided} if ({first} := {one}) is {decided} or ({second} := {two}) is {decided} "
            f"else None if {first} is None or {second} is None else {decided != 'True'}"
        )

    return code


def _condition(operator: str) -> Code:
    return lambda site: f"{site.condition(0)} {operator} {site.condition(1)}"


def _not(site: CallSite) -> str:
    if site.types[0].nullable:
        return f"{site.source(0)} is False"
    return f"not {site.condition(0)}"


def _operator(name: str, decided: str) -> ScalarFunction:
    overload = Overload(
        (booleans, booleans),
        _any_null,
        _joined(name.lower(), decided),
        Nulls.CALLED,
        condition=_condition(name.lower()),
    )
    return ScalarFunction(name, (overload,), (f"'<BOOLEAN> {name} <BOOLEAN>'",))


def _test(name: str, template: str, *, of_boolean: bool = True) -> ScalarFunction:
    parameter = booleans if of_boolean else any_type
    overload = Overload((parameter,), lambda types: _NEVER_NULL, inline(template), Nulls.CALLED)
    return ScalarFunction(name, (overload,), (f"'<BOOLEAN> {name}'",))


_LOGIC = (
    _operator("AND", "False"),
    _operator("OR", "True"),
    ScalarFunction(
        "NOT",
        (Overload((booleans,), lambda types: logical.BOOLEAN, inline("not {0}"), condition=_not),),
        ("'NOT<BOOLEAN>'",),
    ),
    _test("IS NULL", "{0} is None", of_boolean=False),
    _test("IS NOT NULL", "{0} is not None", of_boolean=False),
    _test("IS TRUE", "{0} is True"),
    _test("IS NOT TRUE", "{0} is not True"),
    _test("IS FALSE", "{0} is False"),
    _test("IS NOT FALSE", "{0} is not False"),
    _test("IS UNKNOWN", "{0} is None"),
    _test("IS NOT UNKNOWN", "{0} is not None"),
)


def _case(site: CallSite) -> str:
    """Return code for pairs of a condition and a value, and the value if no condition holds."""
    last = len(site.args) - 1
    parts = [
        f"{site.source(index + 1)} if {site.condition(index)} else " for index in range(0, last, 2)
    ]
    return "".join(parts) + site.source(last)


def _case_type(types: Sequence[LogicalType]) -> LogicalType:
    """The values have one type already."""
    return types[-1].with_nullable(any(kind.nullable for kind in [*types[1:-1:2], types[-1]]))


def _coalesce(site: CallSite) -> str:
    parts = []
    for index in range(len(site.args) - 1):
        name = site.temporary()
        parts.append(f"{name} if ({name} := {site.source(index)}) is not None else ")
    return "".join(parts) + site.source(len(site.args) - 1)


def _first_common_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the type that the operands of COALESCE become: a timestamp beside a date is cut."""
    roots = {kind.root for kind in types}
    if roots - {Root.NULL} == {Root.DATE, Root.TIMESTAMP}:
        return logical.DATE.with_nullable(any(kind.nullable for kind in types))
    return merged_type(types)


def _coalesce_type(types: Sequence[LogicalType]) -> LogicalType:
    found = merged_type(types)
    assert found is not None
    return found.with_nullable(all(kind.nullable for kind in types))


def _if(site: CallSite) -> str:
    return f"{site.source(1)} if {site.condition(0)} else {site.source(2)}"


def _if_type(types: Sequence[LogicalType]) -> LogicalType:
    return types[1].with_nullable(any(kind.nullable for kind in types[1:]))


def _if_unified(types: Sequence[LogicalType]) -> Sequence[LogicalType] | None:
    found = least_restrictive(types[1:])
    return None if found is None else [types[0], found, found]


def _nullif(site: CallSite) -> str:
    one, two = site.atom(0), site.atom(1)
    common = equatable_type(site.types)
    assert common is not None
    generator = site.over([one, two])
    sides = [
        generator.value(convert(InputRef(kind, index), common))
        for index, kind in enumerate(site.types)
    ]
    return f"None if {' == '.join(sides)} else {one}"


CASE = ScalarFunction(
    "CASE",
    (Overload((any_type,), _case_type, _case, Nulls.CALLED, variadic=True),),
)


def _plain(kind: LogicalType) -> LogicalType | None:
    return None if kind.root in {Root.VARIANT, Root.BITMAP, Root.STRUCTURED} else kind


def _nullif_type(types: Sequence[LogicalType]) -> LogicalType:
    if any(kind.root is Root.STRUCTURED for kind in types):
        raise ValidationError("Illegal mixing of types in CASE or COALESCE statement")
    if equatable_type(types) is None:
        one, two = (kind.text(nullability=False) for kind in types)
        raise ValidationError(f"Cannot apply '=' to arguments of type '<{one}> = <{two}>'.")
    return types[0].with_nullable(True)


_CONDITIONAL = (
    CASE,
    ScalarFunction(
        "COALESCE",
        (
            Overload(
                (any_type,),
                _coalesce_type,
                _coalesce,
                Nulls.CALLED,
                variadic=True,
                unified=_first_common_type,
            ),
        ),
    ),
    ScalarFunction(
        "IFNULL",
        (
            Overload(
                (any_type, any_type), _coalesce_type, _coalesce, Nulls.CALLED, unified=merged_type
            ),
        ),
    ),
    ScalarFunction(
        "TYPEOF",
        (
            Overload(
                (any_type,),
                lambda types: logical.STRING,
                lambda site: repr(site.types[0].text()),
                Nulls.CALLED,
            ),
        ),
    ),
    ScalarFunction(
        "IF",
        (Overload((booleans, _plain, _plain), _if_type, _if, Nulls.CALLED, unified=_if_unified),),
    ),
    ScalarFunction(
        "NULLIF",
        (
            Overload(
                (any_type, any_type),
                _nullif_type,
                _nullif,
                Nulls.CALLED,
            ),
        ),
    ),
)


_moment = of(*logical.DATETIMES)


def overlap(start: int | None, end: int | None, begin: int | None, stop: int | None) -> bool | None:
    """True if two periods overlap. The two ends of a period may be in any order."""
    start, end = _sorted(start, end)
    begin, stop = _sorted(begin, stop)
    ends_late = None if end is None or begin is None else end >= begin
    starts_early = None if stop is None or start is None else stop >= start
    if ends_late is False or starts_early is False:
        return False
    return None if ends_late is None or starts_early is None else True


def _sorted(one: int | None, two: int | None) -> tuple[int | None, int | None]:
    ordered = one is not None and two is not None and one <= two
    return (one, two) if ordered else (two, one)


def _result(types: Sequence[LogicalType]) -> LogicalType:
    return logical.BOOLEAN.with_nullable(any(kind.nullable for kind in types))


_OVERLAPS = (
    ScalarFunction(
        "TEMPORAL_OVERLAPS",
        (Overload((_moment,) * 4, _result, calling(overlap), Nulls.CALLED, unified=common_type),),
    ),
)


FUNCTIONS = (*_COMPARISON, *_LOGIC, *_CONDITIONAL, *_OVERLAPS)
