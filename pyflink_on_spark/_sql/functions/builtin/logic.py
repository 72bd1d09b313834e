"""AND, OR, NOT, IS, and what else is about truth."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.functions.parameters import any_type, booleans, inline
from pyflink_on_spark._sql.plan.signatures import CallSite, Code, Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType

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


FUNCTIONS = (
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
