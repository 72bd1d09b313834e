"""The value of a query that stands for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.functions.parameters import any_type
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
)
from pyflink_on_spark._sql.types.logical import LogicalType

Slots = Sequence[str]


def the_only(value: Any, count: int) -> Any:
    """Return the value of the only row.

    Raises:
        RuntimeError: there are several rows.
    """
    if count > 1:
        raise RuntimeError("SingleValueAggFunction received more than one element.")
    return value


class _Single(AggregateCode):
    initial = ("None", "0")
    takes_null = True

    def __init__(self, check: str) -> None:
        self._check = check

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]} = {args[0]}", f"{slots[1]} += 1"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[1]} -= 1", f"if not {slots[1]}: {slots[0]} = None"]

    def value(self, slots: Slots) -> str:
        return f"{self._check}({slots[0]}, {slots[1]})"


def _code(
    binder: Binder, _types: Sequence[LogicalType], _result: LogicalType, _retracting: bool
) -> AggregateCode:
    return _Single(binder.bind(the_only, "the_only"))


FUNCTIONS = (
    AggregateFunction(
        "$SINGLE_VALUE",
        (AggregateOverload((any_type,), lambda types: types[0].with_nullable(True), _code),),
        aliases=("SINGLE_VALUE",),
    ),
)
