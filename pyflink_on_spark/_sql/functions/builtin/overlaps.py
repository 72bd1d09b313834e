"""Whether two periods of time have a moment in common."""

from __future__ import annotations

from collections.abc import Sequence

from pyflink_on_spark._sql.functions.parameters import calling, of
from pyflink_on_spark._sql.plan.signatures import Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import common_type
from pyflink_on_spark._sql.types.logical import LogicalType

_moment = of(*logical.DATETIMES)


def overlap(start: int | None, end: int | None, begin: int | None, stop: int | None) -> bool | None:
    """Tell whether two periods have a moment in common, of which either end may come first."""
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


FUNCTIONS = (
    ScalarFunction(
        "TEMPORAL_OVERLAPS",
        (Overload((_moment,) * 4, _result, calling(overlap), Nulls.CALLED, unified=common_type),),
    ),
)
