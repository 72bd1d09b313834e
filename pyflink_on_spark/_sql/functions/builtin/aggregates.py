"""Aggregate functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.codegen.program import Limited, Limits
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
    MakeCode,
    any_type,
    average_type,
    characters,
    of,
    wrapped,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import divide_half_up, divide_integers
from pyflink_on_spark._sql.types.logical import LogicalType, Root

Slots = Sequence[str]
_FULL = 38
_AVERAGE_SCALE = 6


class _Count(AggregateCode):
    initial = ("0",)

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]} += 1"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]} -= 1"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{slots[0]} += {others[0]}"]

    def value(self, slots: Slots) -> str:
        return slots[0]

    def fields_of_flink(
        self, types: Sequence[LogicalType], result: LogicalType, retracting: bool
    ) -> list[LogicalType] | None:
        return [logical.BIGINT]

    def slots_of_flink(self, fields: Slots) -> list[str]:
        return [fields[0]]


class _CountDifferent(AggregateCode):
    """Counts exactly, as an approximation may."""

    initial = ("set()",)

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}.add({args[0]})"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{slots[0]} |= {others[0]}"]

    def value(self, slots: Slots) -> str:
        return f"len({slots[0]})"


class _Sum(AggregateCode):
    """The first slot is the sum, the second one counts rows."""

    def __init__(
        self, finish: Callable[[str], str], zero: str, empty: str, single: str | None = None
    ) -> None:
        self._finish, self._empty, self._single = finish, empty, single
        self.initial = (zero, "0")

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [self._changed(slots[0], "+", args[0]), f"{slots[1]} += 1"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [self._changed(slots[0], "-", args[0]), f"{slots[1]} -= 1"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [self._changed(slots[0], "+", others[0]), f"{slots[1]} += {others[1]}"]

    def _changed(self, slot: str, operator: str, value: str) -> str:
        """Return the statement that changes the sum; one of FLOATs is rounded each time."""
        if self._single is None:
            return f"{slot} {operator}= {value}"
        return f"{slot} = {self._single}({slot} {operator} {value})"

    def value(self, slots: Slots) -> str:
        return f"({self._finish(slots[0])} if {slots[1]} else {self._empty})"

    def fields_of_flink(
        self, types: Sequence[LogicalType], result: LogicalType, retracting: bool
    ) -> list[LogicalType] | None:
        counts = retracting and self._empty == "None"
        return [result, logical.BIGINT] if counts else [result]

    def slots_of_flink(self, fields: Slots) -> list[str]:
        total, zero = fields[0], self.initial[0]
        count = fields[1] if len(fields) == 2 else f"int({total} is not None)"
        return [f"({zero} if {total} is None else {total})", count]


class _Average(_Sum):
    def __init__(self, divide: Callable[[str, str], str], zero: str) -> None:
        super().__init__(str, zero, "None")
        self._divide = divide

    def value(self, slots: Slots) -> str:
        return f"({self._divide(slots[0], slots[1])} if {slots[1]} else None)"

    def fields_of_flink(
        self, types: Sequence[LogicalType], result: LogicalType, retracting: bool
    ) -> list[LogicalType] | None:
        total = logical.BIGINT
        if result.root is Root.DECIMAL:
            total = logical.decimal(_FULL, types[0].scale or 0)
        elif result.root in logical.APPROXIMATE:
            total = logical.DOUBLE
        return [total, logical.BIGINT]


class _Extreme(AggregateCode):
    """The smallest or largest value, of rows that stay."""

    reversible = False

    def __init__(self, before: str) -> None:
        self._before = before

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        (x,), slot = args, slots[0]
        return [f"if {slot} is None or {x} {self._before} {slot}: {slot} = {x}"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        slot, other = slots[0], others[0]
        better = f"{slot} is None or {other} {self._before} {slot}"
        return [f"if {other} is not None and ({better}): {slot} = {other}"]

    def value(self, slots: Slots) -> str:
        return slots[0]

    def fields_of_flink(
        self, types: Sequence[LogicalType], result: LogicalType, retracting: bool
    ) -> list[LogicalType] | None:
        return [result]

    def slots_of_flink(self, fields: Slots) -> list[str]:
        return [fields[0]]


class _ReversibleExtreme(AggregateCode):
    """Counts each value; the second slot is the smallest or largest one."""

    initial = ("{}", "None")

    def __init__(self, before: str, word: str) -> None:
        self._before, self._word = before, word

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        (x,), (counts, best) = args, slots
        return [
            f"{counts}[{x}] = {counts}.get({x}, 0) + 1",
            f"if {best} is None or {x} {self._before} {best}: {best} = {x}",
        ]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        (x,), (counts, best) = args, slots
        return [
            f"if {counts}.get({x}, 0) == 1:",
            f"    del {counts}[{x}]",
            f"    if {x} == {best}: {best} = {self._word}({counts}, default=None)",
            f"else: {counts}[{x}] = {counts}.get({x}, 0) - 1",
        ]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        counts, best = slots
        return [
            f"for item, count in {others[0]}.items():",
            f"    {counts}[item] = {counts}.get(item, 0) + count",
            f"{best} = {self._word}({counts}, default=None)",
        ]

    def value(self, slots: Slots) -> str:
        return slots[1]


class _First(AggregateCode):
    reversible = False
    initial = ("None",)

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"if {slots[0]} is None: {slots[0]} = {args[0]}"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"if {slots[0]} is None: {slots[0]} = {others[0]}"]

    def value(self, slots: Slots) -> str:
        return slots[0]


class _Last(_First):
    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]} = {args[0]}"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"if {others[0]} is not None: {slots[0]} = {others[0]}"]


class _Kept(AggregateCode):
    """Keeps all values in a list, in the order in which they came."""

    initial: tuple[str, ...] = ("[]",)

    def __init__(self, finish: str, *, takes_null: bool = False) -> None:
        self._finish, self.takes_null = finish, takes_null

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}.append({args[0]})"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        return [f"if {args[0]} in {slots[0]}: {slots[0]}.remove({args[0]})"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [f"{slots[0]} += {others[0]}"]

    def value(self, slots: Slots) -> str:
        return self._finish.format(slots[0])


class _Collected(AggregateCode):
    initial = ("{}",)

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]}[{args[0]}] = {slots[0]}.get({args[0]}, 0) + 1"]

    def retract(self, slots: Slots, args: Slots) -> list[str]:
        (x,), slot = args, slots[0]
        return [
            f"if {slot}.get({x}, 0) > 1: {slot}[{x}] -= 1",
            f"else: {slot}.pop({x}, None)",
        ]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        slot = slots[0]
        return [
            f"for item, count in {others[0]}.items(): {slot}[item] = {slot}.get(item, 0) + count"
        ]

    def value(self, slots: Slots) -> str:
        return f"dict({slots[0]})"


# -- sums ----------------------------------------------------------------------------------------


def _finish_sum(kind: LogicalType) -> Callable[[str], str]:
    if kind.root in logical.INTEGERS:
        return lambda source: wrapped(source, kind.root)
    return str


def _sum_code(empty: str) -> MakeCode:
    def code(
        binder: Binder, _types: Sequence[LogicalType], result: LogicalType, _retracting: bool
    ) -> AggregateCode:
        zero = "0.0" if result.root in logical.APPROXIMATE else "0"
        single = binder.bind(to_single, "to_single") if result.root is Root.FLOAT else None
        return _Sum(_finish_sum(result), zero, zero if empty == "0" else empty, single)

    return code


def _sum_type(types: Sequence[LogicalType]) -> LogicalType:
    (kind,) = types
    if kind.root is Root.DECIMAL:
        kind = logical.decimal(_FULL, kind.scale or 0)
    return kind.with_nullable(True)


def _average_code(
    binder: Binder, types: Sequence[LogicalType], result: LogicalType, _retracting: bool
) -> AggregateCode:
    root = result.root
    if root in logical.INTEGERS:
        divide = binder.bind(divide_integers, "divide_integers")
        return _Average(lambda total, count: f"{divide}({total}, {count})", "0")
    if root is Root.DECIMAL:
        half_up = binder.bind(divide_half_up, "divide_half_up")
        factor = 10 ** ((result.scale or 0) - (types[0].scale or 0))
        return _Average(lambda total, count: f"{half_up}({total} * {factor}, {count})", "0")
    if root is Root.FLOAT:
        single = binder.bind(to_single, "to_single")
        return _Average(lambda total, count: f"{single}({total} / {count})", "0.0")
    return _Average(lambda total, count: f"{total} / {count}", "0.0")


# -- others --------------------------------------------------------------------------------------


def _extreme(before: str, word: str) -> AggregateOverload:
    def code(
        _binder: Binder, _types: Sequence[LogicalType], _result: LogicalType, retracting: bool
    ) -> AggregateCode:
        return _ReversibleExtreme(before, word) if retracting else _Extreme(before)

    return AggregateOverload((_comparable,), _nullable, code)


def _end(simple: type[_First], finish: str) -> AggregateOverload:
    def code(
        _binder: Binder, _types: Sequence[LogicalType], _result: LogicalType, retracting: bool
    ) -> AggregateCode:
        return _Kept(finish) if retracting else simple()

    return AggregateOverload((any_type,), _nullable, code)


def _plain(make: Callable[[], AggregateCode]) -> MakeCode:
    return lambda binder, types, result, retracting: make()


def _listed(separator_given: bool) -> MakeCode:
    def code(
        binder: Binder, _types: Sequence[LogicalType], _result: LogicalType, _retracting: bool
    ) -> AggregateCode:
        join = binder.bind(_LISTED, "listed")
        return _Listed(join) if separator_given else _Kept(f"{join}(',', {{0}})")

    return code


def listed(limits: Limits, separator: str, texts: Sequence[str]) -> str | None:
    """Return texts with separators; without any, NULL.

    The state has the texts already, so that the result may be made before it is measured.

    Raises:
        ValueError: the result has too many characters.
    """
    if not texts:
        return None
    text = separator.join(texts)
    limits.check(len(text))
    return text


_LISTED = Limited(listed)


class _Listed(_Kept):
    """Texts with a separator; the second slot is the last separator."""

    initial = ("[]", "','")

    def __init__(self, join: str) -> None:
        super().__init__("")
        self._join = join

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [*super().accumulate(slots, args), f"{slots[1]} = {args[1]}"]

    def merge(self, slots: Slots, others: Slots) -> list[str]:
        return [*super().merge(slots, others), f"{slots[1]} = {others[1]}"]

    def value(self, slots: Slots) -> str:
        return f"{self._join}({slots[1]}, {slots[0]})"


def _nullable(types: Sequence[LogicalType]) -> LogicalType:
    return types[0].with_nullable(True)


def _comparable(kind: LogicalType) -> LogicalType | None:
    unordered = {
        Root.MAP, Root.MULTISET, Root.ARRAY, *logical.ROWS, Root.RAW, Root.VARIANT, Root.BITMAP
    }  # fmt: skip
    return None if kind.root in unordered else kind.plain()


def _count_type(_types: Sequence[LogicalType]) -> LogicalType:
    return logical.BIGINT.with_nullable(False)


def _sum0_type(types: Sequence[LogicalType]) -> LogicalType:
    return _sum_type(types).with_nullable(False)


_numbers = of(Root.INT, *logical.NUMERIC)
_LIST_TYPE = logical.STRING

_AGGREGATING = (
    AggregateFunction(
        "COUNT",
        (
            AggregateOverload((), _count_type, _plain(_Count)),
            AggregateOverload((any_type,), _count_type, _plain(_Count)),
        ),
    ),
    AggregateFunction(
        "APPROX_COUNT_DISTINCT",
        (AggregateOverload((_comparable,), _count_type, _plain(_CountDifferent)),),
        batch_only=True,
    ),
    AggregateFunction(
        "SUM",
        (AggregateOverload((_numbers,), _sum_type, _sum_code("None")),),
        ("'SUM(<NUMERIC>)'",),
    ),
    AggregateFunction("$SUM0", (AggregateOverload((_numbers,), _sum0_type, _sum_code("0")),)),
    AggregateFunction(
        "AVG",
        (AggregateOverload((_numbers,), average_type, _average_code),),
        ("'AVG(<NUMERIC>)'",),
    ),
    AggregateFunction("MIN", (_extreme("<", "min"),), ("'MIN(<COMPARABLE_TYPE>)'",)),
    AggregateFunction("MAX", (_extreme(">", "max"),), ("'MAX(<COMPARABLE_TYPE>)'",)),
    AggregateFunction("FIRST_VALUE", (_end(_First, "({0}[0] if {0} else None)"),)),
    AggregateFunction("LAST_VALUE", (_end(_Last, "({0}[-1] if {0} else None)"),)),
    AggregateFunction(
        "LISTAGG",
        (
            AggregateOverload((characters,), lambda types: _LIST_TYPE, _listed(False)),
            AggregateOverload((characters, characters), lambda types: _LIST_TYPE, _listed(True)),
        ),
    ),
    AggregateFunction(
        "COLLECT",
        (
            AggregateOverload(
                (any_type,),
                lambda types: logical.multiset(types[0]).with_nullable(False),
                _plain(_Collected),
            ),
        ),
    ),
    AggregateFunction(
        "ARRAY_AGG",
        (
            AggregateOverload(
                (any_type,),
                lambda types: logical.array(types[0]),
                _plain(lambda: _Kept("(tuple({0}) if {0} else None)", takes_null=True)),
            ),
        ),
    ),
)


def the_only(value: object, count: int) -> object:
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


_SINGLE_VALUE = (
    AggregateFunction(
        "$SINGLE_VALUE",
        (AggregateOverload((any_type,), lambda types: types[0].with_nullable(True), _code),),
        aliases=("SINGLE_VALUE",),
    ),
)


FUNCTIONS = (*_AGGREGATING, *_SINGLE_VALUE)
