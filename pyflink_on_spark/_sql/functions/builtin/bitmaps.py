"""Functions of bitmaps: sets of 32-bit whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyflink_on_spark._sql.functions.definitions import calling, inline
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
    MakeCode,
    Overload,
    Parameter,
    ScalarFunction,
    always,
    byte_strings,
    of,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.variants import bitmap_text, from_bytes, in_order, to_bytes

Slots = Sequence[str]

_bitmap = of(Root.BITMAP)


def _numbers(kind: LogicalType) -> LogicalType | None:
    """Take an array of whole numbers of at most 32 bits."""
    if kind.root is not Root.ARRAY or kind.children[0].root not in _SMALL:
        return None
    return logical.array(logical.INT.with_nullable(kind.children[0].nullable))


def _number(kind: LogicalType) -> LogicalType | None:
    return logical.INT if kind.root in {*_SMALL, Root.NULL} else None


_SMALL = frozenset({Root.TINYINT, Root.SMALLINT, Root.INT})


def built(numbers: Iterable[int | None]) -> frozenset[int]:
    """Return the bitmap of some numbers, without NULLs."""
    return frozenset([number for number in numbers if number is not None])


def listed(bitmap: frozenset[int]) -> tuple[int, ...]:
    """Return the numbers of a bitmap in order."""
    return tuple(in_order(bitmap))


def _scalar(
    name: str, parameters: tuple[Parameter, ...], result: LogicalType, code: object
) -> ScalarFunction:
    made = inline(code) if isinstance(code, str) else calling(code)  # type: ignore[arg-type]
    return ScalarFunction(name, (Overload(parameters, always(result), made),))


# -- aggregates ----------------------------------------------------------------------------------


class _Build(AggregateCode):
    """Counts how often each number came."""

    initial = ("{}",)

    def __init__(self, finish: str) -> None:
        self._finish = finish

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}[{args[0]}] = {slots[0]}.get({args[0]}, 0) + 1"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        (x,), slot = args, slots[0]
        return [f"if {slot}.get({x}, 0) != 1: {slot}[{x}] = {slot}.get({x}, 0) - 1",
                f"else: del {slot}[{x}]"]  # fmt: skip

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        slot = slots[0]
        return [
            f"for item, count in {others[0]}.items(): {slot}[item] = {slot}.get(item, 0) + count"
        ]

    def value(self, slots: Slots) -> str:
        return self._finish.format(f"frozenset({slots[0]})", slots[0])


class _Combined(AggregateCode):
    """Counts the bitmaps that have each number; the second slot counts bitmaps."""

    initial = ("{}", "0")

    def __init__(self, binder: Binder, rule: str, finish: str) -> None:
        self._add = binder.bind(add, "add_bitmap")
        self._rule, self._finish = rule, finish

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{self._add}({slots[0]}, {args[0]}, 1)", f"{slots[1]} += 1"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{self._add}({slots[0]}, {args[0]}, -1)", f"{slots[1]} -= 1"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [
            f"for item, count in {others[0]}.items():",
            f"    {slots[0]}[item] = {slots[0]}.get(item, 0) + count",
            f"{slots[1]} += {others[1]}",
        ]

    def value(self, slots: Slots) -> str:
        condition = self._rule.format("count", slots[1])
        made = f"frozenset([item for item, count in {slots[0]}.items() if {condition}])"
        return self._finish.format(made, slots[1])


def add(counts: dict[int, int], bitmap: frozenset[int], sign: int) -> None:
    """Count the numbers of a bitmap, or take them back."""
    for number in bitmap:
        count = counts.get(number, 0) + sign
        if count:
            counts[number] = count
        else:
            del counts[number]


_VALUE, _COUNT = "({0} if {1} else None)", "len({0})"


def _build(finish: str) -> MakeCode:
    return lambda binder, types, result, retracting: _Build(finish)


def _combined(rule: str, finish: str) -> MakeCode:
    return lambda binder, types, result, retracting: _Combined(binder, rule, finish)


def _aggregate(
    name: str, parameter: Parameter, result: LogicalType, code: MakeCode
) -> AggregateFunction:
    overload = AggregateOverload((parameter,), lambda types: result, code)
    return AggregateFunction(name, (overload,))


_RULES = {"AND": "{0} == {1}", "OR": "{0} > 0", "XOR": "{0} & 1"}
_OPERATORS = {"AND": "&", "ANDNOT": "-", "OR": "|", "XOR": "^"}

FUNCTIONS = (
    _scalar("BITMAP_BUILD", (_numbers,), logical.BITMAP, built),
    _scalar("BITMAP_CARDINALITY", (_bitmap,), logical.BIGINT, "len({0})"),
    _scalar("BITMAP_FROM_BYTES", (byte_strings,), logical.BITMAP, from_bytes),
    _scalar("BITMAP_TO_ARRAY", (_bitmap,), logical.array(logical.INT), listed),
    _scalar("BITMAP_TO_BYTES", (_bitmap,), logical.BYTES, to_bytes),
    _scalar("BITMAP_TO_STRING", (_bitmap,), logical.STRING, bitmap_text),
    *(
        _scalar(f"BITMAP_{name}", (_bitmap, _bitmap), logical.BITMAP, f"{{0}} {operator} {{1}}")
        for name, operator in _OPERATORS.items()
    ),
    _aggregate("BITMAP_BUILD_AGG", _number, logical.BITMAP, _build(_VALUE)),
    _aggregate("BITMAP_BUILD_CARDINALITY_AGG", _number, logical.BIGINT, _build(_COUNT)),
    *(
        function
        for name, rule in _RULES.items()
        for function in (
            _aggregate(f"BITMAP_{name}_AGG", _bitmap, logical.BITMAP, _combined(rule, _VALUE)),
            _aggregate(
                f"BITMAP_{name}_CARDINALITY_AGG", _bitmap, logical.BIGINT, _combined(rule, _COUNT)
            ),
        )
    ),
)
