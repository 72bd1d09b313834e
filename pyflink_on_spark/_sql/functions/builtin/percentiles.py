"""PERCENTILE: the value that a part of the rows does not exceed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import ceil, floor

from pyflink_on_spark._sql.functions.parameters import as_double, integers
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import NUMERIC, LogicalType, Root

_PART = logical.DOUBLE.with_nullable(False)
Slots = Sequence[str]


class _Percentile(AggregateCode):
    """The slots are the percentage, of the first row, and how often there is each value."""

    initial = ("None", "{}")

    def __init__(self, binder: Binder, several: bool) -> None:
        self._checked = binder.bind(checked, "checked")
        self._change = binder.bind(change, "change")
        self._merge = binder.bind(merge, "merge")
        self._value = binder.bind(percentiles if several else percentile, "percentile")

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [
            f"if {slots[0]} is None: {slots[0]} = {self._checked}({args[1]})",
            f"{self._change}({slots[1]}, {args[0]}, {self._times(args)})",
        ]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{self._change}({slots[1]}, {args[0]}, -{self._times(args)})"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [
            f"if {slots[0]} is None: {slots[0]} = {others[0]}",
            f"{self._merge}({slots[1]}, {others[1]})",
        ]

    def value(self, slots: Slots) -> str:
        return f"{self._value}({slots[1]}, {slots[0]})"

    @staticmethod
    def _times(args: Slots) -> str:
        return f"max({args[2]}, 0)" if len(args) > 2 else "1"


def checked(percentage: float | tuple[float, ...]) -> float | tuple[float, ...]:
    """Return a percentage, or several.

    Raises:
        ValueError: one is not between 0 and 1.
    """
    for each in percentage if isinstance(percentage, tuple) else (percentage,):
        if not 0.0 <= each <= 1.0:
            raise ValueError(
                f"Percentage of PERCENTILE should be between [0.0, 1.0], but was '{each}'."
            )
    return percentage


def change(counts: dict[float, int], value: float, times: int) -> None:
    """Note that there is a value more often, or less often."""
    count = counts.get(value, 0) + times
    if count:
        counts[value] = count
    else:
        counts.pop(value, None)


def merge(counts: dict[float, int], others: dict[float, int]) -> None:
    """Note how often there are other values."""
    for value, times in others.items():
        change(counts, value, times)


def percentile(counts: dict[float, int], percentage: float) -> float | None:
    """Return the value at a part of the way from the smallest to the largest."""
    found = percentiles(counts, (percentage,))
    return None if found is None else found[0]


def percentiles(
    counts: dict[float, int], percentages: tuple[float, ...]
) -> tuple[float, ...] | None:
    """Return the values at some parts of the way from the smallest to the largest."""
    if not counts:
        return None
    values = sorted(counts)
    ends: list[int] = []
    for value in values:
        ends.append(counts[value] + (ends[-1] if ends else 0))
    return tuple(_between(values, ends, percentage) for percentage in percentages)


def _between(values: list[float], ends: list[int], percentage: float) -> float:
    place = percentage * (ends[-1] - 1) + 1
    low, high = floor(place), ceil(place)
    lower = values[_index(ends, low)]
    upper = values[_index(ends, high)]
    return lower if lower == upper else (high - place) * lower + (place - low) * upper


def _index(ends: list[int], place: int) -> int:
    return bisect_left(ends, place)


def _percentage(kind: LogicalType) -> LogicalType | None:
    return _PART if kind.root in NUMERIC and not kind.nullable else None


def _percentages(kind: LogicalType) -> LogicalType | None:
    if kind.root is not Root.ARRAY or kind.nullable or _percentage(kind.children[0]) is None:
        return None
    return logical.array(_PART).with_nullable(False)


def _overload(*, several: bool) -> AggregateOverload:
    result = logical.array(logical.DOUBLE) if several else logical.DOUBLE
    return AggregateOverload(
        (as_double, _percentages if several else _percentage, integers),
        lambda types: result,
        lambda binder, types, given, retracting: _Percentile(binder, several),
        optional=1,
    )


FUNCTIONS = (
    AggregateFunction(
        "PERCENTILE",
        (_overload(several=False), _overload(several=True)),
        forms=("'PERCENTILE(<NUMERIC>, <NUMERIC>)'",),
    ),
)
