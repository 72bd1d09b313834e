"""The values in functions, in collected results and in Java's text, as observed in PyFlink 2.3."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from pyflink_on_spark._runtime.types.codec import NullValueError
from pyflink_on_spark._runtime.types.converters import (
    boundary_converter,
    collect_converter,
    java_text,
)
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import ExternalTypeInfo, LocalTimeTypeInfo, Types
from pyflink_on_spark.common.types import Row, RowKind

LocalTime = LocalTimeTypeInfo.TimeType
BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
NAMED = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
ZONE = dt.timezone(dt.timedelta(hours=2))

# (type, value, what a function sees, what is collected, Java's text)
OBSERVED = [
    (Types.INT(), True, 1, 1, "1"),
    (Types.INT(), -2.9, -2, -2, "-2"),
    (Types.INT(), Decimal("3.7"), 3, 3, "3"),
    (Types.INT(), 2**31 - 1, 2147483647, 2147483647, "2147483647"),
    (Types.BYTE(), -128, -128, -128, "-128"),
    (Types.SHORT(), 2.9, 2, 2, "2"),
    (Types.LONG(), -(2**63), -(2**63), -(2**63), "-9223372036854775808"),
    (Types.BOOLEAN(), 2, True, True, "true"),
    (Types.BOOLEAN(), 0.5, False, False, "false"),
    (Types.FLOAT(), 0.1, 0.10000000149011612, 0.1, "0.1"),
    (Types.FLOAT(), 1, 1.0, 1.0, "1.0"),
    (Types.FLOAT(), 16777217.0, 16777216.0, 16777216.0, "1.6777216E7"),
    (Types.FLOAT(), 9007199254740993, 9007199254740992.0, 9007199300000000.0, "9.0071993E15"),
    (Types.DOUBLE(), 7, 7.0, 7.0, "7.0"),
    (Types.DOUBLE(), True, 1.0, 1.0, "1.0"),
    (Types.DOUBLE(), Decimal("1.5"), 1.5, 1.5, "1.5"),
    (Types.STRING(), "é€😀", "é€😀", "é€😀", "é€😀"),
    (Types.BIG_DEC(), Decimal("1.10"), Decimal("1.10"), Decimal("1.10"), "1.10"),
    (Types.BIG_DEC(), Decimal("1E-10"), Decimal("1E-10"), Decimal("1.00E-10"), "1E-10"),
    (
        Types.BIG_DEC(),
        Decimal("1.5E+20"),
        Decimal("1.5E+20"),
        Decimal(150000000000000000000),
        "1.5E+20",
    ),
    (Types.BIG_DEC(), Decimal("1E+3"), Decimal("1E+3"), Decimal(1000), "1E+3"),
    (
        Types.LIST(Types.BIG_DEC()),
        [Decimal("1.5E+20")],
        [Decimal("1.5E+20")],
        [Decimal("1.50E+20")],
        "[1.5E+20]",
    ),
    (Types.BIG_DEC(), Decimal("-0.00"), Decimal("0.00"), Decimal("0.00"), "0.00"),
    (Types.BIG_DEC(), 1.5, Decimal("1.5"), Decimal("1.5"), "1.5"),
    (Types.BIG_DEC(), "2.50", Decimal("2.50"), Decimal("2.50"), "2.50"),
    (
        Types.SQL_DATE(),
        dt.date(2024, 2, 29),
        dt.date(2024, 2, 29),
        dt.date(2024, 2, 29),
        "2024-02-29",
    ),
    (
        Types.SQL_DATE(),
        dt.datetime(2024, 1, 2, 3, 4),
        dt.date(2024, 1, 2),
        dt.date(2024, 1, 2),
        "2024-01-02",
    ),
    (
        Types.SQL_TIME(),
        dt.time(7, 5, 9, 123456),
        dt.time(7, 5, 9, 123000),
        dt.time(7, 5, 9),
        "07:05:09",
    ),
    (
        Types.SQL_TIME(),
        dt.time(7, 5, 9, tzinfo=ZONE),
        dt.time(7, 5, 9),
        dt.time(7, 5, 9),
        "07:05:09",
    ),
    (LocalTimeTypeInfo(LocalTime.LOCAL_TIME), *[dt.time(7, 5)] * 3, "07:05"),
    (LocalTimeTypeInfo(LocalTime.LOCAL_TIME), *[dt.time(7, 5, 9, 120000)] * 3, "07:05:09.120"),
    (LocalTimeTypeInfo(LocalTime.LOCAL_TIME), *[dt.time(7, 5, 9, 123456)] * 3, "07:05:09.123456"),
    (LocalTimeTypeInfo(LocalTime.LOCAL_DATE), *[dt.date(2024, 2, 29)] * 3, "2024-02-29"),
    (
        LocalTimeTypeInfo(LocalTime.LOCAL_DATE_TIME),
        *[dt.datetime(2024, 1, 2, 3, 4, 5, 120000)] * 3,
        "2024-01-02T03:04:05.120",
    ),
    (BYTES, b"a\xff", b"a\xff", [97, -1], "[97, -1]"),
    (BYTES, bytearray(b"ab"), b"ab", [97, 98], "[97, 98]"),
    (Types.LIST(Types.BYTE()), b"\x01", b"\x01", [1], "[1]"),
    (Types.PRIMITIVE_ARRAY(Types.INT()), [1.9, True], [1, 1], [1, 1], "[1, 1]"),
    (
        Types.PRIMITIVE_ARRAY(Types.FLOAT()),
        [0.1, 1],
        [0.10000000149011612, 1.0],
        [0.1, 1.0],
        "[0.1, 1.0]",
    ),
    (Types.BASIC_ARRAY(Types.STRING()), ["a", None], ["a", None], ["a", None], "[a, null]"),
    (Types.BASIC_ARRAY(Types.BYTE()), [1, None], [1, None], [1, None], "[1, null]"),
    (Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()])), [(1,)], [(1,)], [(1,)], "[(1)]"),
    (Types.LIST(Types.STRING()), ["a", "b"], ["a", "b"], ["a", "b"], "[a, b]"),
    (Types.LIST(Types.LIST(Types.INT())), [[1], []], [[1], []], [[1], []], "[[1], []]"),
    (Types.LIST(Types.INT()), [], [], [], "[]"),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": 1.5}, {"a": 1}, {"a": 1}, "{a=1}"),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": None}, {"a": None}, {"a": None}, "{a=null}"),
    (
        Types.MAP(Types.INT(), Types.FLOAT()),
        {1: 0.1, 2: 2},
        {1: 0.10000000149011612, 2: 2.0},
        {1: 0.1, 2: 2.0},
        "{1=0.1, 2=2.0}",
    ),
    (
        Types.MAP(Types.INT(), Types.STRING()),
        {1: "y", 2.5: "z", 2: "w"},
        *[{1: "y", 2: "w"}] * 2,
        "{1=y, 2=w}",
    ),
    (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "a", 3), (1, "a"), (1, "a"), "(1,a)"),
    (
        Types.TUPLE([Types.BOOLEAN(), Types.DOUBLE()]),
        (True, 1),
        (True, 1.0),
        (True, 1.0),
        "(true,1.0)",
    ),
    (Types.TUPLE([Types.INSTANT()]), (None,), (None,), (None,), "(null)"),
    (Types.TUPLE([]), (), (), (), "()"),
    (
        Types.TUPLE(
            [Types.TUPLE([Types.INT(), Types.FLOAT()]), Types.ROW([Types.INT(), Types.STRING()])]
        ),
        ((1, 0.1), Row(1, "s")),
        ((1, 0.10000000149011612), Row(f0=1, f1="s")),
        ((1, 0.1), Row(f0=1, f1="s")),
        "((1,0.1),+I[1, s])",
    ),
    (NAMED, Row(7, "x"), Row(id=7, name="x"), Row(id=7, name="x"), "+I[7, x]"),
    (NAMED, Row(name="x", id=7), Row(id=7, name="x"), Row(id=7, name="x"), "+I[7, x]"),
    (NAMED, Row(7.9, "x", 9), Row(id=7, name="x"), Row(id=7, name="x"), "+I[7, x]"),
    (NAMED, Row(None, None), *[Row(id=None, name=None)] * 2, "+I[null, null]"),
    (NAMED, Row(id=7, name="x", extra=1), *[Row(id=7, name="x")] * 2, "+I[7, x]"),
    (ExternalTypeInfo(NAMED), Row(7, "x"), *[Row(id=7, name="x")] * 2, "+I[7, x]"),
    (
        Types.ROW([BYTES, Types.TUPLE([Types.INT()])]),
        Row(b"ab", None),
        Row(f0=b"ab", f1=None),
        Row(f0=[97, 98], f1=None),
        "+I[[97, 98], null]",
    ),
]


def same(value: object, expected: object) -> bool:
    return value == expected and repr(value) == repr(expected)


@pytest.mark.parametrize(("type_info", "value", "seen", "collected", "text"), OBSERVED)
def test_observed(type_info, value, seen, collected, text):
    (converted,) = boundary_converter(type_info)(iter([value]))
    assert same(converted, seen)
    assert same(list(collect_converter(type_info)(iter([value]))), [collected])
    assert java_text(type_info)(converted) == text


# What fails or goes wrong in PyFlink, and works here.
@pytest.mark.parametrize(
    ("type_info", "value", "seen", "text"),
    [
        (Types.BIG_INT(), 2**100, 2**100, str(2**100)),
        (Types.CHAR(), "é", "é", "é"),
        (Types.FLOAT(), 1e39, float("inf"), "Infinity"),
        (
            Types.SQL_TIMESTAMP(),
            dt.datetime(2024, 2, 29, 7, 5, 9, 123456),
            dt.datetime(2024, 2, 29, 7, 5, 9, 123000),
            "2024-02-29 07:05:09.123",
        ),
        (
            Types.SQL_TIMESTAMP(),
            dt.datetime(1969, 12, 31, 23, 59, 59, 500000),
            dt.datetime(1969, 12, 31, 23, 59, 59, 500000),
            "1969-12-31 23:59:59.5",
        ),
        (
            Types.SQL_TIMESTAMP(),
            dt.datetime(2039, 1, 1, tzinfo=ZONE),
            dt.datetime(2039, 1, 1),
            "2039-01-01 00:00:00.0",
        ),
        (Types.INSTANT(), Instant(1, 500), Instant(1, 500), "1970-01-01T00:00:01.000000500Z"),
        (Types.INSTANT(), Instant(-1, 5), Instant(-1, 5), "1969-12-31T23:59:59.000000005Z"),
        (
            Types.INSTANT(),
            Instant(1700000000, 120000000),
            Instant(1700000000, 120000000),
            "2023-11-14T22:13:20.120Z",
        ),
        (Types.LIST(Types.PICKLED_BYTE_ARRAY()), [{1}, "x"], [{1}, "x"], "[{1}, x]"),
        (Types.SQL_DATE(), dt.date(1, 1, 1), dt.date(1, 1, 1), "0001-01-01"),
    ],
)
def test_better_than_observed(type_info, value, seen, text):
    (converted,) = boundary_converter(type_info)(iter([value]))
    assert same(converted, seen)
    assert same(list(collect_converter(type_info)(iter([value]))), [seen])
    assert java_text(type_info)(converted) == text


def test_infinite_floats_can_be_collected():
    collected = list(collect_converter(Types.FLOAT())(iter([float("inf"), float("nan"), -0.0])))
    assert repr(collected) == "[inf, nan, -0.0]"


@pytest.mark.parametrize("kind", list(RowKind))
@pytest.mark.parametrize("field", [Types.INT(), Types.LIST(Types.INT())])
def test_row_kinds_survive(kind, field):
    type_info = Types.ROW([field, Types.INT()])
    row = Row.of_kind(kind, None, 1)
    (converted,) = collect_converter(type_info)(iter([row]))
    assert converted.get_row_kind() is kind
    assert java_text(type_info)(converted) == f"{kind}[null, 1]"


@pytest.mark.parametrize("type_info", [None, Types.PICKLED_BYTE_ARRAY()])
def test_untyped_streams_are_not_converted(type_info):
    assert boundary_converter(type_info) is None
    assert collect_converter(type_info) is None


@pytest.mark.parametrize(
    "type_info",
    [
        Types.STRING(),
        Types.BIG_DEC(),
        Types.BIG_INT(),
        Types.SQL_DATE(),
        Types.SQL_TIMESTAMP(),
        Types.INSTANT(),
    ],
)
def test_a_stream_of_a_nullable_type_may_hold_none(type_info):
    assert list(boundary_converter(type_info)(iter([None, None]))) == [None, None]
    assert list(collect_converter(type_info)(iter([None]))) == [None]
    with pytest.raises(NullValueError, match="has no text"):
        java_text(type_info)(None)
