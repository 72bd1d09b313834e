"""Functions of the position of a row in an order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateOverload,
    Binder,
    RankingFunction,
    any_type,
    converted,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import comparable_type
from pyflink_on_spark._sql.types.logical import LogicalType

Slots = Sequence[str]
_COUNT = logical.BIGINT.with_nullable(False)
_SHARE = logical.DOUBLE.with_nullable(False)
_as_int = converted(logical.INT, *logical.INTEGERS)


class _Number(AggregateCode):
    initial = ("0",)

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        return [f"{slots[0]} += 1"]

    def value(self, slots: Slots) -> str:
        return slots[0]


class _Lag(AggregateCode):
    """Keeps the last values; the second slot is the value of the last row."""

    initial = ("[]", "None")
    takes_null = True

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        kept, found = slots
        distance = args[1] if len(args) > 1 else "1"
        default = args[2] if len(args) > 2 else "None"
        return [
            f"{kept}.append({args[0]})",
            f"{found} = {kept}[-1 - {distance}] if len({kept}) > {distance} else {default}",
            f"if len({kept}) > {distance}: del {kept}[0]",
        ]

    def value(self, slots: Slots) -> str:
        return slots[1]


class _Rank(AggregateCode):
    """The rank of the last row; the argument is what rows are ordered by."""

    initial = ("0", "0", "None")
    takes_null = True

    def __init__(self, dense: bool) -> None:
        self._dense = dense

    def accumulate(self, slots: Slots, args: Slots) -> list[str]:
        count, rank, last = slots
        after = f"{rank} + 1" if self._dense else count
        return [
            f"{count} += 1",
            f"if {last} != {args[0]} or {count} == 1: {rank} = {after}; {last} = {args[0]}",
        ]

    def value(self, slots: Slots) -> str:
        return slots[1]


class _NoCode(AggregateCode):
    """Stands for functions that need all rows of a group."""


# -- whole groups --------------------------------------------------------------------------------


def numbers(peers: list[int]) -> list[int]:
    """Return 1, 2, 3 and so on."""
    return list(range(1, len(peers) + 1))


def ranks(peers: list[int]) -> list[int]:
    """Return one more than the number of rows before in order."""
    return [first + 1 for first in peers]


def dense_ranks(peers: list[int]) -> list[int]:
    """Return one more than the number of different places in order before."""
    found: list[int] = []
    rank, last = 0, -1
    for first in peers:
        if first != last:
            rank, last = rank + 1, first
        found.append(rank)
    return found


def percent_ranks(peers: list[int]) -> list[float]:
    """Return the share of the other rows that come before in order."""
    others = len(peers) - 1
    return [first / others if others else 0.0 for first in peers]


def cumulative_shares(peers: list[int]) -> list[float]:
    """Return the share of rows that do not come after in order."""
    ends = {first: index + 1 for index, first in enumerate(peers)}
    return [ends[first] / len(peers) for first in peers]


def tiles(peers: list[int], counts: list[int]) -> list[int]:
    """Return which of so many parts of about the same size a row is in."""
    size, larger = divmod(len(peers), counts[0])
    found = [tile for tile in range(1, larger + 1) for _ in range(size + 1)]
    return found + [tile for tile in range(larger + 1, counts[0] + 1) for _ in range(size)]


def lags(
    _peers: list[int],
    values: list[object],
    distances: list[int] | None = None,
    defaults: list[object] | None = None,
) -> list[object]:
    """Return the values of rows some places before."""
    return _moved(values, distances, defaults, -1)


def leads(
    _peers: list[int],
    values: list[object],
    distances: list[int] | None = None,
    defaults: list[object] | None = None,
) -> list[object]:
    """Return the values of rows some places further on."""
    return _moved(values, distances, defaults, 1)


def _moved(
    values: list[object], distances: list[int] | None, defaults: list[object] | None, sign: int
) -> list[object]:
    size, found = len(values), []
    for index in range(size):
        place = index + sign * (1 if distances is None else distances[index])
        default = None if defaults is None else defaults[index]
        found.append(values[place] if 0 <= place < size else default)
    return found


# -- definitions ---------------------------------------------------------------------------------


def _position(
    name: str, column: Callable[..., list[Any]], kind: LogicalType, *, streaming: bool = False
) -> RankingFunction:
    def code(
        _binder: Binder, _types: Sequence[LogicalType], _result: LogicalType, _retracting: bool
    ) -> AggregateCode:
        if name in {"RANK", "DENSE_RANK"}:
            return _Rank(name == "DENSE_RANK")
        return _Number() if streaming else _NoCode()

    overload = AggregateOverload((), lambda types: kind, code)
    return RankingFunction(name, (overload,), column=column, streaming=streaming)


def _neighbour_type(types: Sequence[LogicalType]) -> LogicalType:
    # The default does not stand in for a value that is NULL.
    return types[0].with_nullable(len(types) < 3 or types[0].nullable or types[2].nullable)


def _default_as_value(types: Sequence[LogicalType]) -> Sequence[LogicalType] | None:
    """Return the types of a value, a distance and a default, which becomes the value's type."""
    if len(types) < 3:
        return types
    fits = comparable_type([types[0], types[2]]) is not None
    return [*types[:2], types[0]] if fits else None


def _neighbour(
    name: str, column: Callable[..., list[object]], *, streaming: bool
) -> RankingFunction:
    def code(
        _binder: Binder, _types: Sequence[LogicalType], _result: LogicalType, _retracting: bool
    ) -> AggregateCode:
        return _Lag() if streaming else _NoCode()

    overload = AggregateOverload(
        (any_type, _as_int, any_type), _neighbour_type, code, optional=2, unified=_default_as_value
    )
    return RankingFunction(name, (overload,), column=column, streaming=streaming)


def _ntile_code(
    _binder: Binder, _types: Sequence[LogicalType], _result: LogicalType, _retracting: bool
) -> AggregateCode:
    return _NoCode()


FUNCTIONS = (
    _position("ROW_NUMBER", numbers, _COUNT, streaming=True),
    _position("RANK", ranks, _COUNT, streaming=True),
    _position("DENSE_RANK", dense_ranks, _COUNT, streaming=True),
    _position("PERCENT_RANK", percent_ranks, _SHARE),
    _position("CUME_DIST", cumulative_shares, _SHARE),
    RankingFunction(
        "NTILE", (AggregateOverload((_as_int,), lambda types: _COUNT, _ntile_code),), column=tiles
    ),
    _neighbour("LAG", lags, streaming=True),
    _neighbour("LEAD", leads, streaming=False),
)
