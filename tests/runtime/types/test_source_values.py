"""The conversion of values by from_collection, as observed in PyFlink 2.3."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from types import SimpleNamespace

import pytest

from pyflink_on_spark._runtime.types.codec import NullValueError
from pyflink_on_spark._runtime.types.converters import source_converter
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.common.types import Row, RowKind

PAIR = Types.TUPLE([Types.INT(), Types.STRING()])
NAMED = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
ZONE = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("type_info", "value", "seen"),
    [
        (Types.INT(), 7, 7),
        (Types.INT(), 2**31, -(2**31)),
        (Types.BYTE(), 200, -56),
        (Types.LONG(), 2**63 - 1, 2**63 - 1),
        (Types.FLOAT(), 0.1, 0.10000000149011612),
        (Types.STRING(), 5, "5"),
        (Types.STRING(), True, "true"),
        (Types.STRING(), 1e7, "1.0E7"),
        (Types.BIG_DEC(), Decimal("1E+3"), Decimal("1E+3")),
        (Types.SQL_TIME(), dt.time(7, 5, 9, 123456), dt.time(7, 5, 9, 123000)),
        (Types.SQL_TIME(), dt.time(7, 5, 9, tzinfo=ZONE), dt.time(5, 5, 9)),
        (Types.SQL_DATE(), dt.datetime(2024, 1, 2, 3), dt.date(2024, 1, 2)),
        (Types.INSTANT(), Instant(1, 123456789), Instant(1, 123000000)),
        (PAIR, (1, "a"), (1, "a")),
        (PAIR, [1, "a"], (1, "a")),
        (PAIR, Row(1, "a"), (1, "a")),
        (NAMED, Row(7, "x"), Row(id=7, name="x")),
        (NAMED, Row(name="x", id=7), Row(id=7, name="x")),
        (NAMED, (7, "x"), Row(id=7, name="x")),
        (NAMED, [7, "x"], Row(id=7, name="x")),
        (NAMED, {"id": 7}, Row(id=7, name=None)),
        (NAMED, SimpleNamespace(id=7), Row(id=7, name=None)),
        (NAMED, Row(7.9, 5), Row(id=None, name="5")),
        (Types.ROW([Types.DOUBLE()]), Row(1), Row(f0=None)),
        (Types.ROW([NAMED]), Row((7, "x")), Row(f0=Row(id=7, name="x"))),
        (Types.PRIMITIVE_ARRAY(Types.INT()), (1, 2), [1, 2]),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab", b"ab"),
        (Types.BASIC_ARRAY(Types.BYTE()), b"\xff"[:0] + b"a", [97]),
        (Types.BASIC_ARRAY(Types.INT()), [1.9, None, 3], [None, None, 3]),
        (Types.MAP(Types.STRING(), Types.LIST(Types.INT())), {"a": [1]}, {"a": [1]}),
        (None, {"any": "thing"}, {"any": "thing"}),
    ],
)
def test_observed(type_info, value, seen):
    converted = source_converter(type_info)(value)
    assert converted == seen
    assert repr(converted) == repr(seen)


@pytest.mark.parametrize(
    ("type_info", "value", "seen"),
    [
        (Types.BIG_INT(), 5, 5),
        (Types.CHAR(), "a", "a"),
        (Types.LIST(Types.LONG()), [1], [1]),
        (Types.LIST(NAMED), [Row(7, "x")], [Row(id=7, name="x")]),
        (Types.OBJECT_ARRAY(Types.SQL_DATE()), [dt.date(2024, 1, 1)], [dt.date(2024, 1, 1)]),
        (Types.MAP(Types.STRING(), NAMED), {"k": (7, "x")}, {"k": Row(id=7, name="x")}),
        (Types.SQL_TIME(), dt.time(1, 5, 9, tzinfo=ZONE), dt.time(23, 5, 9)),
    ],
)
def test_better_than_observed(type_info, value, seen):
    assert source_converter(type_info)(value) == seen


@pytest.mark.parametrize(
    ("type_info", "value", "error"),
    [
        (PAIR, {"a": 1}, ValueError),
        (PAIR, "ab", ValueError),
        (PAIR, (1, "a", 3), ValueError),
        (PAIR, (1,), ValueError),
        (NAMED, 5, ValueError),
        (NAMED, "ab", ValueError),
        (NAMED, (7,), ValueError),
        (NAMED, Row(7, "x", 9), ValueError),
        (NAMED, Row(id=7, other=1), ValueError),
        (Types.SQL_DATE(), "2024-01-01", AttributeError),
        (Types.SQL_TIMESTAMP(), dt.date(2024, 1, 1), AttributeError),
        (Types.LIST(Types.INT()), [2**31], OverflowError),
        (Types.STRING(), object(), TypeError),
    ],
)
def test_refused(type_info, value, error):
    with pytest.raises(error, match="expected"):
        source_converter(type_info)(value)


@pytest.mark.parametrize(
    ("type_info", "value"),
    [
        (Types.INT(), None),
        (Types.INT(), 2.9),
        (Types.INT(), True),
        (Types.DOUBLE(), 1),
        (Types.BOOLEAN(), 1),
        (Types.STRING(), None),
        (Types.INSTANT(), None),
        (PAIR, None),
        (PAIR, (None, "a")),
        (PAIR, ("x", "a")),
        (NAMED, None),
        (Types.PRIMITIVE_ARRAY(Types.INT()), [1, None]),
        (Types.LIST(Types.INT()), (1,)),
        (Types.MAP(Types.STRING(), Types.INT()), {"a": None}),
    ],
)
def test_what_flink_reads_as_null_is_refused_where_there_is_none(type_info, value):
    with pytest.raises(NullValueError):
        source_converter(type_info)(value)


def test_the_message_names_the_field():
    with pytest.raises(NullValueError) as caught:
        source_converter(Types.TUPLE([Types.STRING(), Types.DOUBLE()]))(("a", 1))
    assert str(caught.value) == (
        "expected Double at [1], got int 1: Flink reads int as a null of type Double, and none may "
        "be here; the declared type is TupleTypeInfo(String, Double), the value ('a', 1)"
    )


def test_the_culprit_is_not_a_field_that_becomes_none():
    type_info = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.SQL_DATE()])
    with pytest.raises(AttributeError, match=r"DateTypeInfo at \['b'\]"):
        source_converter(type_info)(Row("null", "no date"))


def test_row_kinds_survive():
    row = source_converter(NAMED)(Row.of_kind(RowKind.DELETE, 7, "x"))
    assert row.get_row_kind() is RowKind.DELETE


def test_the_value_given_is_copied():
    given = Row([1], {"a": 1})
    type_info = Types.ROW([Types.LIST(Types.INT()), Types.MAP(Types.STRING(), Types.INT())])
    converted = source_converter(type_info)(given)
    given[0].append(2)
    given[1]["b"] = 2
    given[0] = None
    assert converted == Row(f0=[1], f1={"a": 1})
