"""Keys of every type, and where real PyFlink sent them.

``subtasks_of_keys.json`` has the subtask of each key, a digit each, by case and by plan.
``record_subtasks.py`` wrote the file.
"""

# ruff: noqa: DTZ001 - the types have no zone

from __future__ import annotations

import datetime as dt
import json
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

RECORD = Path(__file__).with_name("subtasks_of_keys.json")
PLANS = [(2, 128), (3, 128), (5, 1000), (7, 7), (7, 32768)]
"""Parallelism and maximum parallelism."""

_PRIME = 2**61 - 1


def recorded() -> dict[str, dict[tuple[int, int], list[int]]]:
    """Return the subtasks of all keys, by case and plan."""
    content = json.loads(RECORD.read_text(encoding="utf-8"))
    return {
        case: {
            tuple(map(int, plan.split("/"))): list(map(int, digits))
            for plan, digits in plans.items()
        }
        for case, plans in content.items()
    }


def key_cases(common: ModuleType) -> dict[str, tuple[Any, list[Any]]]:
    """Return the declared type and the keys of each case.

    Args:
        common: the module ``pyflink.common`` or what stands for it.
    """
    return {**_untyped(common), **_atomic(common), **_composite(common)}


def _numbers(count: int, bits: int) -> list[int]:
    """Return numbers with a sign that look like random ones."""
    half = 1 << bits - 1
    return [pow(3, 1000 + n, _PRIME) % (2 * half) - half for n in range(count)]


WORDS = [
    *(f"user-{n}" for n in range(25)),
    *(f"sensor_{n}" for n in range(25)),
    *(str(UUID(int=n % 2**64 << 64 | n % 2**61)) for n in _numbers(10, 60)),
    "", "a", "é", "ßßß", "日本語", "😀", "a😀b", "\x00",
    "x" * 255, "y" * 256, "ü" * 128, "w" * 70_000,
]  # fmt: skip
INTS = [
    *range(-5, 25), 127, 128, 255, 256, 257, 65535, 65536, 2**31 - 1, -(2**31),
    *(1000 * n for n in range(1, 20)), *_numbers(20, 32),
]  # fmt: skip
LONGS = [
    *INTS, 2**31, -(2**31) - 1, 2**32, 2**39, -(2**39), -(2**39) - 1, 2**47, 2**55, -(2**55),
    2**63 - 1, -(2**63), *(1_700_000_000_000 + 60_000 * n for n in range(10)), *_numbers(20, 61),
]  # fmt: skip
FLOATS = [
    0.0, -0.0, 1.0, 1.5, -2.25, float("inf"), float("-inf"), float("nan"), 5e-324, 1e300,
    *(n / 2 for n in range(25)), *(n / 1000 for n in _numbers(25, 31)),
]  # fmt: skip
DECIMALS = [
    *map(Decimal, ("0", "1", "1.0", "1.50", "-1.5", "1E+3", "-1E-7", "123456789.123456789")),
    *map(Decimal, ("9223372036854775807", "9223372036854775808", "-12345678901234567890.5")),
    *(Decimal(n).scaleb(-n % 8) for n in _numbers(30, 50)),
]
DATES = [
    dt.date(1, 1, 1), dt.date(1500, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1),
    *(dt.date(2024, 1, 1) + dt.timedelta(days=n) for n in range(30)), dt.date(9999, 12, 31),
]  # fmt: skip
TIMES = [
    dt.time(0),
    *(dt.time(n % 24, n % 60, n % 59, n % 1000 * 1000) for n in _numbers(30, 40)),
]
STAMPS = [
    dt.datetime(1900, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_000),
    dt.datetime(1970, 1, 1),
    *(dt.datetime(2000, 1, 1) + dt.timedelta(milliseconds=n) for n in _numbers(30, 41)),
]
UUIDS = [UUID(int=n << 64 | 7) for n in range(20)]


def _untyped(common: ModuleType) -> dict[str, tuple[Any, list[Any]]]:
    row, kinds = common.Row, list(common.RowKind)
    tuples: list[Any] = [
        *((word, n) for n, word in enumerate(WORDS)), *((f"a{n}", f"b{n}") for n in range(10)),
        *((n, n) for n in range(-3, 10)), *((300 + n, f"k{n}", n / 2) for n in range(10)),
        (), (1,), (None,), (1.5, True), ("a", "a"), ("", ""), ("a", "b"), (b"x", b"y"),
        (1, "x", (2, ("y",), [3])), tuple(range(300)), ("x" * 40_000, "y" * 40_000),
        *((word, date) for word, date in zip(WORDS, DATES)),
        *((date, date.replace(day=28)) for date in DATES[4:20]),
    ]  # fmt: skip
    rows = [
        *(row(n, f"n{n}") for n in range(20)), *(row(id=n, name=f"n{n}") for n in range(20)),
        *(_of_kind(row(n), kinds[n % 4]) for n in range(20)), row(), row(row(1), [row(2)]),
    ]  # fmt: skip
    keys: dict[str, list[Any]] = {
        "str": [*WORDS, "\ud800", "a\udfffb"],
        "int": [*LONGS, 2**63, 2**64, -(2**100), 2**2100],
        "float": FLOATS,
        "bool": [True, False],
        "None": [None],
        "bytes": [*(word.encode() for word in WORDS), *(bytes([n]) for n in range(120, 140))],
        "tuple": tuples,
        "list": [*([word, n] for n, word in enumerate(WORDS)), [], [[1], [2]], list(range(1001))],
        "dict": [{}, *({"id": n, "name": f"n{n}"} for n in range(20))],
        "Row": rows,
        "RowKind": kinds,
        "frozenset": [frozenset([n]) for n in range(10)],
        "Decimal": DECIMALS,
        "date": DATES,
        "time": TIMES,
        "datetime": [*STAMPS, *(stamp.replace(tzinfo=dt.UTC) for stamp in STAMPS)],
        "timedelta": [dt.timedelta(n, n * 7, n) for n in range(20)],
        "Instant": [common.Instant(n, n % 10**9) for n in _numbers(20, 33)],
        "UUID": UUIDS,
        "Fraction": [Fraction(n, 7) for n in range(20)],
        "OrderedDict": [OrderedDict(a=n) for n in range(10)],
        "any": [1, "a", 1.5, None, True, b"a", (1,), *WORDS[:20], *INTS[:20]],
    }
    return {f"untyped {name}": (None, found) for name, found in keys.items()}


def _of_kind(row: Any, kind: Any) -> Any:
    row.set_row_kind(kind)
    return row


def _atomic(common: ModuleType) -> dict[str, tuple[Any, list[Any]]]:
    types = common.Types
    finite = [value for value in FLOATS if abs(value) != 1e300]
    return {
        "PICKLED": (types.PICKLED_BYTE_ARRAY(), WORDS),
        "STRING": (types.STRING(), [*WORDS, None]),
        "INT": (types.INT(), [*INTS, None]),
        "LONG": (types.LONG(), LONGS),
        "SHORT": (types.SHORT(), list(range(-40, 40))),
        "BYTE": (types.BYTE(), list(range(-40, 40))),
        "BOOLEAN": (types.BOOLEAN(), [True, False]),
        "FLOAT": (types.FLOAT(), finite),
        "DOUBLE": (types.DOUBLE(), FLOATS),
        "BIG_DEC": (types.BIG_DEC(), [*DECIMALS, None]),
        "SQL_DATE": (types.SQL_DATE(), [*DATES, None]),
        "SQL_TIME": (types.SQL_TIME(), [*TIMES, None]),
        "SQL_TIMESTAMP": (types.SQL_TIMESTAMP(), [*STAMPS, None]),
        "INSTANT": (types.INSTANT(), [common.Instant(n, n % 10**9) for n in _numbers(20, 33)]),
    }


def _composite(common: ModuleType) -> dict[str, tuple[Any, list[Any]]]:
    types, row, kinds = common.Types, common.Row, list(common.RowKind)
    string, integer, long = types.STRING(), types.INT(), types.LONG()
    numbered = list(enumerate(WORDS))
    times = [types.SQL_DATE(), types.SQL_TIME(), types.SQL_TIMESTAMP(), types.BIG_DEC()]
    return {
        "TUPLE": (types.TUPLE([string, integer]), [(word, n) for n, word in numbered]),
        "TUPLE of numbers": (
            types.TUPLE([long, types.DOUBLE(), types.BOOLEAN()]),
            [(n, value, n > value) for n, value in zip(LONGS, FLOATS)],
        ),
        "TUPLE of all": (
            types.TUPLE([
                types.TUPLE([integer, string]), types.LIST(integer), types.ROW([integer, string]),
                types.MAP(string, integer),
            ]),
            [((n, word), [n, n + 1], row(n, word), {word: n, "k": 2}) for n, word in numbered],
        ),
        "ROW": (
            types.ROW([integer, string]),
            [
                *(row(n, word) for n, word in numbered), row(None, "a"), row(1, None),
                *(_of_kind(row(n, "a"), kinds[n % 4]) for n in range(12)), row(None, None),
            ],
        ),
        "ROW_NAMED": (
            types.ROW_NAMED(["id", "name"], [integer, string]),
            [*(row(n, f"n{n}") for n in range(20)), *(row(name=f"n{n}", id=n) for n in range(20))],
        ),
        "ROW of all": (
            types.ROW([
                types.ROW([integer, string]), types.TUPLE([string, long]), types.LIST(long),
                types.MAP(string, integer), types.PICKLED_BYTE_ARRAY(),
            ]),
            [
                *(row(row(n, w), (w, n), [n, 2 * n], {w: n, "k": 3}, (w, n)) for n, w in numbered),
                row(None, ("a", 1), None, None, None),
            ],
        ),
        "ROW of times": (
            types.ROW(times), [row(*each) for each in zip(DATES, TIMES, STAMPS, DECIMALS)]
        ),
        "LIST": (types.LIST(string), [[word] * (n % 3) + ["é"] for n, word in numbered]),
        "LIST of LIST": (types.LIST(types.LIST(integer)), [[[n], [n, 2]] for n in range(20)]),
        "LIST of BYTE": (types.LIST(types.BYTE()), [word.encode() for word in WORDS]),
        "LIST of PICKLED": (types.LIST(types.PICKLED_BYTE_ARRAY()), [[n, "é"] for n in range(20)]),
        "LIST of arrays": (
            types.LIST(types.PRIMITIVE_ARRAY(integer)), [[[n], [n, 2]] for n in range(20)]
        ),
        "MAP": (types.MAP(string, integer), [{word: n, "b": 2} for n, word in numbered]),
        "MAP of LIST": (
            types.MAP(integer, types.LIST(string)), [{n: [word], -5: ["b"]} for n, word in numbered]
        ),
    }  # fmt: skip
