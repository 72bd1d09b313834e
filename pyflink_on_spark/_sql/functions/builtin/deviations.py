"""Variances and deviations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.functions.parameters import numbers
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

Slots = Sequence[str]
_FULL = 38
_AVERAGE_SCALE = 6


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


def average_type(types: Sequence[LogicalType]) -> LogicalType:
    """Return the type of an average: that of the values, DECIMAL with more digits."""
    (kind,) = types
    if kind.root is Root.DECIMAL:
        kind = logical.decimal(_FULL, max(_AVERAGE_SCALE, kind.scale or 0))
    return kind.with_nullable(True)


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


def _overload_of(function: Callable[..., Any]) -> AggregateOverload:
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


FUNCTIONS = (
    AggregateFunction("STDDEV_POP", (_overload_of(deviation_pop),)),
    AggregateFunction("STDDEV_SAMP", (_overload_of(deviation_samp),), aliases=("STDDEV",)),
    AggregateFunction("VAR_POP", (_overload_of(variance_pop),)),
    AggregateFunction("VAR_SAMP", (_overload_of(variance_samp),), aliases=("VARIANCE",)),
)
