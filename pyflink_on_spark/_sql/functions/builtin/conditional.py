"""CASE, COALESCE, NULLIF and IF."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.builtin.comparison import equatable_type
from pyflink_on_spark._sql.functions.parameters import any_type, booleans
from pyflink_on_spark._sql.plan.signatures import CallSite, Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root


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
    return common_type(types)


def _coalesce_type(types: Sequence[LogicalType]) -> LogicalType:
    found = common_type(types)
    assert found is not None
    return found.with_nullable(all(kind.nullable for kind in types))


def _if(site: CallSite) -> str:
    return f"{site.source(1)} if {site.condition(0)} else {site.source(2)}"


def _if_type(types: Sequence[LogicalType]) -> LogicalType:
    found = common_type(types[1:])
    assert found is not None
    return found


def _nullif(site: CallSite) -> str:
    one, two = site.atom(0), site.atom(1)
    return f"None if {one} == {two} else {one}"


CASE = ScalarFunction(
    "CASE",
    (Overload((any_type,), _case_type, _case, Nulls.CALLED, variadic=True),),
)


def _plain(kind: LogicalType) -> LogicalType | None:
    return None if kind.root in {Root.VARIANT, Root.BITMAP} else kind


def _nullif_type(types: Sequence[LogicalType]) -> LogicalType:
    if equatable_type(types) is None:
        one, two = (kind.text(nullability=False) for kind in types)
        raise ValidationError(f"Cannot apply '=' to arguments of type '<{one}> = <{two}>'.")
    return types[0].with_nullable(True)


FUNCTIONS = (
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
                (any_type, any_type), _coalesce_type, _coalesce, Nulls.CALLED, unified=common_type
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
        (Overload((booleans, _plain, _plain), _if_type, _if, Nulls.CALLED),),
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
