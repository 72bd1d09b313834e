"""Values as PyFlink's workers write them into state; what jobs wrote is in tests/flink_state."""

from __future__ import annotations

import datetime
import decimal
import pickle
import struct

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.coders import DataInput, load, own_module, reader_of
from pyflink_on_spark.common import Row, Types
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import LocalTimeTypeInfo
from pyflink_on_spark.common.types import RowKind


def integers(*numbers):
    return struct.pack(f">{len(numbers)}i", *numbers)


def sized(content):
    return integers(len(content)) + content


def read(type_info, content):
    data = DataInput(content, "a value")
    value = reader_of(type_info)(data)
    assert not data.left
    return value


@pytest.mark.parametrize(
    ("type_info", "content", "value"),
    [
        (Types.STRING(), sized("aé".encode()), "aé"),
        (Types.CHAR(), sized(b"x"), "x"),
        (Types.BOOLEAN(), b"\x01", True),
        (Types.BYTE(), b"\xfe", -2),
        (Types.SHORT(), b"\xff\xfe", -2),
        (Types.INT(), integers(-7), -7),
        (Types.LONG(), struct.pack(">q", -8), -8),
        (Types.BIG_INT(), struct.pack(">q", 9), 9),
        (Types.FLOAT(), struct.pack(">f", 0.5), 0.5),
        (Types.DOUBLE(), struct.pack(">d", 0.1), 0.1),
        (Types.BIG_DEC(), sized(b"-1.50"), decimal.Decimal("-1.50")),
        (Types.INSTANT(), struct.pack(">qi", 5, 6), Instant(5, 6)),
        (Types.INSTANT(), struct.pack(">qi", -(1 << 63), -(1 << 31)), None),
        (Types.SQL_DATE(), integers(-1), datetime.date(1969, 12, 31)),
        (Types.SQL_TIME(), integers(3_723_004), datetime.time(1, 2, 3, 4000)),
        (
            Types.SQL_TIMESTAMP(),
            struct.pack(">q", 1500),
            datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000),
        ),
        (Types.TUPLE([Types.INT(), Types.STRING()]), integers(1) + sized(b"a"), (1, "a")),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), sized(b"ab"), b"ab"),
        (Types.PRIMITIVE_ARRAY(Types.INT()), integers(2, 5, 6), [5, 6]),
        (Types.LIST(Types.INT()), integers(2) + b"\x01" + integers(5) + b"\x00", [5, None]),
        (
            Types.MAP(Types.STRING(), Types.INT()),
            integers(2) + sized(b"a") + b"\x00" + integers(1) + sized(b"b") + b"\x01",
            {"a": 1, "b": None},
        ),
        (Types.PICKLED_BYTE_ARRAY(), sized(pickle.dumps([1])), [1]),
        (None, sized(pickle.dumps({1: 2})), {1: 2}),
    ],
)
def test_a_value_is_read(type_info, content, value):
    found = read(type_info, content)
    assert found == value
    assert type(found) is type(value)


def test_a_row_has_names_a_kind_and_nulls():
    type_info = Types.ROW_NAMED(["a", "b", "c"], [Types.INT(), Types.STRING(), Types.INT()])
    row = read(type_info, b"\x90" + integers(1, 2))
    expected = Row(a=1, b=None, c=2)
    expected.set_row_kind(RowKind.UPDATE_BEFORE)
    assert row == expected


def test_pickles_name_the_modules_of_pyflink():
    assert own_module("pyflink.common.types") == "pyflink_on_spark.common.types"
    assert own_module("collections") == "collections"
    row = pickle.dumps(Row(1, "a"), 2).replace(
        b"cpyflink_on_spark.common.types", b"cpyflink.common.types"
    )
    assert b"cpyflink.common.types" in row
    assert load(row) == Row(1, "a")


@pytest.mark.parametrize(
    ("type_info", "content", "why"),
    [
        (Types.LONG(), b"\x00" * 4, "8 bytes are expected"),
        (Types.STRING(), sized(b"\xff"), "a text is damaged"),
        (Types.STRING(), integers(5) + b"ab", "cannot be 5 bytes"),
        (Types.BIG_DEC(), sized(b"x"), "a decimal number is damaged"),
        (Types.SQL_TIMESTAMP(), struct.pack(">q", 1 << 62), "a time is damaged"),
        (Types.LIST(Types.INT()), integers(1 << 30), "cannot be 1073741824 elements"),
    ],
)
def test_other_bytes_are_refused(type_info, content, why):
    with pytest.raises(CheckpointError, match=f"a value, at byte .*{why}"):
        read(type_info, content)


def test_a_type_without_state_in_pyflink_is_refused():
    with pytest.raises(TypeError, match="PyFlink has no state of the type"):
        reader_of(LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE))
