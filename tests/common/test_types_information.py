"""Type information: its text, equality, and the internal form of values."""

from __future__ import annotations

import datetime as dt
import pickle
from types import SimpleNamespace

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import typeinfo
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    RowTypeInfo,
    SqlTimeTypeInfo,
    TimeTypeInfo,
    TypeInformation,
    Types,
)
from pyflink_on_spark.common.types import Row, RowKind

PAIR = Types.TUPLE([Types.INT(), Types.LIST(Types.STRING())])
LOCAL_DATE = LocalTimeTypeInfo.TimeType.LOCAL_DATE

TEXTS = [
    (Types.STRING(), "String"),
    (Types.BYTE(), "Byte"),
    (Types.BOOLEAN(), "Boolean"),
    (Types.SHORT(), "Short"),
    (Types.INT(), "Integer"),
    (Types.LONG(), "Long"),
    (Types.FLOAT(), "Float"),
    (Types.DOUBLE(), "Double"),
    (Types.CHAR(), "Char"),
    (Types.BIG_INT(), "BigInteger"),
    (Types.BIG_DEC(), "BigDecimal"),
    (Types.INSTANT(), "Instant"),
    (Types.SQL_DATE(), "DateTypeInfo"),
    (Types.SQL_TIME(), "TimeTypeInfo"),
    (Types.SQL_TIMESTAMP(), "TimestampTypeInfo"),
    (Types.PICKLED_BYTE_ARRAY(), "PickledByteArrayTypeInfo"),
    (Types.PRIMITIVE_ARRAY(Types.INT()), "PrimitiveArrayTypeInfo<Integer>"),
    (Types.BASIC_ARRAY(Types.STRING()), "BasicArrayTypeInfo<String>"),
    (Types.OBJECT_ARRAY(Types.STRING()), "ObjectArrayTypeInfo<String>"),
    (Types.MAP(Types.STRING(), Types.BIG_DEC()), "MapTypeInfo<String, BigDecimal>"),
    (PAIR, "TupleTypeInfo(Integer, ListTypeInfo<String>)"),
    (Types.TUPLE([]), "TupleTypeInfo()"),
    (Types.ROW([Types.INT(), Types.FLOAT()]), "RowTypeInfo(Integer, Float)"),
    (
        Types.ROW_NAMED(["x", "y"], [Types.FLOAT(), Types.SQL_DATE()]),
        "RowTypeInfo(x: Float, y: DateTypeInfo)",
    ),
    (LocalTimeTypeInfo(LOCAL_DATE), "LocalTimeTypeInfo<LOCAL_DATE>"),
    (ExternalTypeInfo(Types.INT()), "ExternalTypeInfo<Integer>"),
]


@pytest.mark.parametrize(("type_info", "text"), TEXTS)
def test_text_equality_and_pickles(type_info, text):
    assert str(type_info) == repr(type_info) == text
    assert pickle.loads(pickle.dumps(type_info)) == type_info
    assert [other for other, _ in TEXTS if other == type_info] == [type_info]
    assert type_info != 3


@pytest.mark.parametrize(("type_info", "text"), TEXTS)
def test_type_information_cannot_be_a_key(type_info, text):
    with pytest.raises(TypeError, match="unhashable"):
        hash(type_info)


def test_a_rows_names_do_not_count_in_equality():
    assert Types.ROW([Types.INT()]) == Types.ROW_NAMED(["a"], [Types.INT()])
    assert Types.ROW([Types.INT()]) != Types.TUPLE([Types.INT()])


def test_names_of_fields():
    plain = Types.ROW([Types.INT(), Types.STRING()])
    assert plain.get_field_index("f0") == -1
    assert plain.get_field_names() == ["f0", "f1"]
    assert str(plain) == "RowTypeInfo(f0: Integer, f1: String)"
    assert plain.get_field_index("f1") == 1
    named = RowTypeInfo([Types.INT()], ["a"])
    assert named.get_field_types() == [Types.INT()]
    with pytest.raises(ValueError, match="'b' is not in list"):
        named.get_field_index("b")


def test_factories_of_the_classes():
    assert BasicTypeInfo(BasicType.STRING) == BasicTypeInfo.STRING_TYPE_INFO() == Types.STRING()
    assert SqlTimeTypeInfo.DATE() == Types.SQL_DATE()
    assert SqlTimeTypeInfo.TIME() == Types.SQL_TIME()
    assert SqlTimeTypeInfo.TIMESTAMP() == Types.SQL_TIMESTAMP()
    for basic_type in BasicType:
        assert getattr(BasicTypeInfo, f"{basic_type.name}_TYPE_INFO")()._basic_type is basic_type


def test_what_a_star_imports():
    assert typeinfo.__all__ == ["TypeInformation", "Types"]


@pytest.mark.parametrize(
    ("type_info", "value", "internal"),
    [
        (Types.SQL_DATE(), dt.date(1970, 1, 2), 1),
        (Types.SQL_TIME(), dt.time(0, 0, 1, 5, tzinfo=dt.UTC), 1_000_005),
        (Types.SQL_TIMESTAMP(), dt.datetime(1970, 1, 1, 0, 0, 1, 5, dt.UTC), 1_000_005),
        (Types.INSTANT(), Instant(1, 5_000_000), 1_005_000),
        (Types.INT(), "anything", "anything"),
        (PAIR, [1, ["a"]], (1, ["a"])),
        (PAIR, Row(1, []), (1, [])),
        (Types.ROW([Types.SQL_DATE()]), (dt.date(1970, 1, 2),), (0, 1)),
        (Types.ROW_NAMED(["a"], [Types.INT()]), {"a": 1, "b": 2}, (0, 1)),
        (Types.ROW_NAMED(["a"], [Types.INT()]), SimpleNamespace(a=1), (0, 1)),
        (Types.ROW([Types.INT()]), Row.of_kind(RowKind.DELETE, 1), (3, 1)),
        (Types.ROW([Types.ROW([Types.INT()])]), [[1]], (0, (0, 1))),
        (Types.ROW([Types.INT()]), None, None),
    ],
)
def test_internal_form(type_info, value, internal):
    assert type_info.to_internal_type(value) == internal


def test_internal_form_of_values_without_a_zone():
    for type_info, value in (
        (Types.SQL_TIME(), dt.time(7, 5, 9, 123456)),
        (Types.SQL_TIMESTAMP(), dt.datetime(2024, 2, 29, 7, 5, 9, 123456)),
        (Types.SQL_DATE(), dt.date(2024, 2, 29)),
        (Types.INSTANT(), Instant(5, 7_000_000)),
    ):
        assert type_info.from_internal_type(type_info.to_internal_type(value)) == value


@pytest.mark.parametrize("value", [5, "ab"])
def test_what_has_no_internal_form(value):
    with pytest.raises(ValueError, match=f"Unexpected tuple {value!r} with RowTypeInfo"):
        Types.ROW([Types.INT()]).to_internal_type(value)
    with pytest.raises(ValueError, match=f"Unexpected tuple {value!r} with TupleTypeInfo"):
        PAIR.to_internal_type(value)


def test_which_types_have_an_internal_form():
    converting = {str(type_info) for type_info, _ in TEXTS if type_info.need_conversion()}
    assert {text.partition("(")[0] for text in converting} == {
        "DateTypeInfo",
        "Instant",
        "RowTypeInfo",
        "TimeTypeInfo",
        "TimestampTypeInfo",
        "TupleTypeInfo",
    }
    assert TimeTypeInfo.EPOCH_ORDINAL % 60_000_000 == 0


def test_javas_type_information_is_out_of_reach():
    with pytest.raises(UnsupportedFlinkFeature, match="get_java_type_info"):
        Types.INT().get_java_type_info()
    assert TypeInformation().need_conversion() is False
