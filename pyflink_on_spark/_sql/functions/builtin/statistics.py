"""Aggregate functions of statistics: variances, deviations, percentiles."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Any

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
    as_double,
    average_type,
    integers,
    numbers,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import NUMERIC, LogicalType, Root

Slots = Sequence[str]


class _Spread(AggregateCode):
    """Variances and deviations: sums of values and of squares, and how many there are."""

    initial = ("0", "0", "0")

    def __init__(self, finish: str) -> None:
        self._finish = finish

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        (x,) = args
        return [f"{slots[0]} += {x}", f"{slots[1]} += {x} * {x}", f"{slots[2]} += 1"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        (x,) = args
        return [f"{slots[0]} -= {x}", f"{slots[1]} -= {x} * {x}", f"{slots[2]} -= 1"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{one} += {two}" for one, two in zip(slots, others)]

    def value(self, slots: Slots) -> str:
        return f"{self._finish}({', '.join(slots)})"


def variance_pop(total: float, squares: float, count: int) -> float | None:
    """Return the variance of a population."""
    return None if count == 0 else (squares - total * total / count) / count


def variance_samp(total: float, squares: float, count: int) -> float | None:
    """Return the variance of a sample."""
    return None if count <= 1 else (squares - total * total / count) / (count - 1)


def deviation_pop(total: float, squares: float, count: int) -> float | None:
    """Return the standard deviation of a population."""
    found = variance_pop(total, squares, count)
    return None if found is None else math.sqrt(max(found, 0.0))


def deviation_samp(total: float, squares: float, count: int) -> float | None:
    """Return the standard deviation of a sample."""
    found = variance_samp(total, squares, count)
    return None if found is None else math.sqrt(max(found, 0.0))


def _overload_of(function: Callable[..., object]) -> AggregateOverload:
    def code(
        binder: Binder, types: Sequence[LogicalType], result: LogicalType, _retracting: bool
    ) -> AggregateCode:
        return _Spread(binder.bind(Finished(function, types[0], result), function.__name__))

    return AggregateOverload((numbers,), average_type, code)


class Finished:
    """Computes a deviation of sums, and makes it a value of the result's type.

    Args:
        function: what computes it, of real numbers.
        kind: the type of the values.
        result: the type of the result.
    """

    def __init__(
        self, function: Callable[..., Any], kind: LogicalType, result: LogicalType
    ) -> None:
        self._function, self._kind, self._result = function, kind, result

    def __call__(self, total: Any, squares: Any, count: int) -> Any:
        """Return the result."""
        scale = 10 ** (self._kind.scale or 0) if self._kind.root is Root.DECIMAL else 1
        found = self._function(total / scale, squares / scale / scale, count)
        if found is None:
            return None
        if self._result.root in logical.INTEGERS:
            return int(found)
        if self._result.root is Root.DECIMAL:
            return round(found * 10 ** (self._result.scale or 0))
        return to_single(found) if self._result.root is Root.FLOAT else found


_DEVIATIONS = (
    AggregateFunction("STDDEV_POP", (_overload_of(deviation_pop),)),
    AggregateFunction("STDDEV_SAMP", (_overload_of(deviation_samp),), aliases=("STDDEV",)),
    AggregateFunction("VAR_POP", (_overload_of(variance_pop),)),
    AggregateFunction("VAR_SAMP", (_overload_of(variance_samp),), aliases=("VARIANCE",)),
)


_PART = logical.DOUBLE.with_nullable(False)


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


_PERCENTILES = (
    AggregateFunction(
        "PERCENTILE",
        (_overload(several=False), _overload(several=True)),
        forms=("'PERCENTILE(<NUMERIC>, <NUMERIC>)'",),
    ),
)


FUNCTIONS = (*_DEVIATIONS, *_PERCENTILES)
