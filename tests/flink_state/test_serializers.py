"""Snapshots of Flink's serializers, and the values that they read."""

from __future__ import annotations

import datetime
import decimal
import struct

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.types import RowKind
from pyflink_on_spark.flink_state.serializers import FlinkWindow, Void, read_snapshot
from tests.flink_state.written import composite, integers, longs, snapshot, string, utf

BASE = "org.apache.flink.api.common.typeutils.base."
RUNTIME = "org.apache.flink.api.java.typeutils.runtime."
WINDOWS = "org.apache.flink.table.runtime.operators.window."


def base(name):
    return snapshot(f"{BASE}{name}Serializer${name}SerializerSnapshot")


BYTES = snapshot(f"{BASE}array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot")


def read(serializer, content):
    data = DataInput(serializer, "a snapshot")
    found = read_snapshot(data)
    assert not data.left
    values = DataInput(content, "a value")
    value = found.read(values)
    assert not values.left
    return value


@pytest.mark.parametrize(
    ("serializer", "content", "value"),
    [
        (base("String"), string("abc"), "abc"),
        (base("String"), b"\x00", None),
        (base("String"), b"\x01", ""),
        (base("String"), b"\x02\xe4\x01", "ä"),
        (base("String"), b"\x03\xbd\xb0\x03\x80\xbc\x03", "\U0001f600"),
        (base("Boolean"), b"\x01", True),
        (base("Byte"), b"\xff", -1),
        (base("Short"), b"\xff\xfe", -2),
        (base("Int"), integers(-3), -3),
        (base("Long"), longs(-4), -4),
        (base("Float"), struct.pack(">f", 0.5), 0.5),
        (base("Double"), struct.pack(">d", 0.1), 0.1),
        (base("Char"), b"\x00\xe4", "ä"),
        (base("BigInt"), integers(0), None),
        (base("BigInt"), integers(1), 0),
        (base("BigInt"), integers(2), 1),
        (base("BigInt"), integers(3), 10),
        (base("BigInt"), integers(5) + b"\xfe", -2),
        (base("BigInt"), integers(13) + (1 << 64).to_bytes(9, "big"), 1 << 64),
        (base("BigDec"), integers(6) + b"\xfb\x2e" + integers(2), decimal.Decimal("-12.34")),
        (base("BigDec"), integers(0), None),
        (base("BigDec"), integers(1, 0), decimal.Decimal(0)),
        (base("Date"), longs(1500), datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000)),
        (base("SqlDate"), longs(86_400_000), datetime.date(1970, 1, 2)),
        (base("SqlTime"), longs(3_723_004), datetime.time(1, 2, 3, 4000)),
        (base("SqlTimestamp"), longs(-(1 << 63)), None),
        (
            base("SqlTimestamp"),
            longs(1000) + integers(5000),
            datetime.datetime(1970, 1, 1, 0, 0, 1, 5),
        ),
        (base("LocalDate"), integers(2026) + b"\x0b\x18", datetime.date(2026, 11, 24)),
        (base("LocalTime"), b"\x04\x1e\x00" + integers(1000), datetime.time(4, 30, 0, 1)),
        (
            base("LocalDateTime"),
            integers(2026) + b"\x0b\x18\x04\x1e\x00" + integers(0),
            datetime.datetime(2026, 11, 24, 4, 30),
        ),
        (base("Instant"), longs(5) + integers(6), Instant(5, 6)),
        (base("Instant"), longs(-(1 << 63)) + integers(-(1 << 31)), None),
        (BYTES, integers(2) + b"ab", b"ab"),
        (
            composite(f"{BASE}ListSerializerSnapshot", 1, b"", base("Int")),
            integers(2, 7, 8),
            [7, 8],
        ),
        (
            composite(f"{BASE}MapSerializerSnapshot", 1, b"", base("String"), base("Int")),
            integers(2) + string("a") + b"\x00" + integers(1) + string("b") + b"\x01",
            {"a": 1, "b": None},
        ),
        (
            composite(
                f"{RUNTIME}TupleSerializerSnapshot",
                2,
                utf("org.apache.flink.api.java.tuple.Tuple2"),
                base("Int"),
                base("String"),
            ),
            integers(1) + string("x"),
            (1, "x"),
        ),
        (
            snapshot(f"{WINDOWS}TimeWindow$Serializer$TimeWindowSerializerSnapshot"),
            longs(1, 2),
            FlinkWindow("time", (1, 2)),
        ),
        (
            snapshot(f"{WINDOWS}CountWindow$Serializer$CountWindowSerializerSnapshot"),
            longs(3),
            FlinkWindow("count", (3,)),
        ),
        (
            snapshot(f"{WINDOWS}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot"),
            b"\x00",
            FlinkWindow("global"),
        ),
        (
            snapshot(
                "org.apache.flink.runtime.state.VoidNamespaceSerializer"
                "$VoidNamespaceSerializerSnapshot"
            ),
            b"\x00",
            Void(),
        ),
    ],
)
def test_a_value_is_read(serializer, content, value):
    found = read(serializer, content)
    assert found == value
    assert type(found) is type(value)


def rows(*fields, with_kind=True):
    name = f"{RUNTIME}RowSerializer$RowSerializerSnapshot"
    return composite(name, 4, bytes([with_kind]), *fields)


def test_a_row_has_a_kind_and_nulls():
    row = read(rows(base("Int"), base("String"), base("Int")), b"\x50" + integers(1, 2))
    assert list(row) == [1, None, 2]
    assert row.get_row_kind() is RowKind.UPDATE_AFTER


def test_a_row_may_have_no_kind():
    row = read(rows(base("Int"), base("String"), with_kind=False), b"\x80" + string("a"))
    assert list(row) == [None, "a"]


def test_the_mask_of_a_wide_row_has_several_bytes():
    mask = bytes([0b00000010, 0b10000000])
    row = read(rows(*[base("Byte")] * 9), mask + bytes([0, 1, 2, 3, 5, 7, 8]))
    assert list(row) == [0, 1, 2, 3, None, 5, None, 7, 8]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (f"{RUNTIME}PojoSerializerSnapshot", r"a POJO of Java cannot be read \(com.example.My"),
        (f"{RUNTIME}kryo.KryoSerializerSnapshot", "an object that Java wrote with Kryo .*com.ex"),
        ("com.example.MySerializerSnapshot", "the serializer com.example.My.* is not known"),
    ],
)
def test_unknown_serializers_are_named_with_their_place(name, what):
    unknown = snapshot(name, 2, utf("com.example.My"))
    inner = composite(f"{BASE}ListSerializerSnapshot", 1, b"", unknown)
    at = inner.index(utf(name))
    with pytest.raises(CheckpointError, match=f"at byte {at}: {what}"):
        read_snapshot(DataInput(inner, "a snapshot"))


def test_nesting_ends():
    nested = base("Int")
    for _ in range(70):
        nested = composite(f"{BASE}ListSerializerSnapshot", 1, b"", nested)
    with pytest.raises(CheckpointError, match="nested too deeply"):
        read_snapshot(DataInput(nested, "a snapshot"))


@pytest.mark.parametrize(
    ("serializer", "content"),
    [
        (base("Int"), b"\x00\x00"),
        (base("String"), b"\x05ab"),
        (base("String"), b"\xff\xff\xff\xff\xff\xff"),
        (BYTES, integers(1 << 30) + b"ab"),
        (BYTES, integers(-1)),
        (composite(f"{BASE}ListSerializerSnapshot", 1, b"", base("Int")), integers(1 << 30)),
        (base("LocalDate"), integers(2026) + b"\x0d\x18"),
        (base("BigInt"), integers(-5)),
    ],
)
def test_damaged_values_are_refused(serializer, content):
    with pytest.raises(CheckpointError, match="a value, at byte"):
        read(serializer, content)


PARTITION = "org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition"
NO_ENTRIES = longs(0x4F2C69A3D70) + integers(0)
KRYO = snapshot(f"{RUNTIME}kryo.KryoSerializerSnapshot", 2, utf(PARTITION) + 3 * NO_ENTRIES)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x0c\x01" + b"\x01\x06" + b"\x01to\xf0", (-1, 3, "top")),
        (b"\x0c\x01" + b"\xfe\xff\xff\xff\x0f\x00" + b"\x01\x82t", (2**31 - 1, 0, "t")),
        (b"\x0c\x01" + b"\x00\x00" + b"\x01\x81", (0, 0, "")),
        (b"\x0c\x01" + b"\x00\x00" + b"\x01\xc4\x01" + b"t" * 67, (0, 0, "t" * 67)),
        (b"\x0c\x01" + b"\x00\x00\x00", (0, 0, None)),
        (b"\x00", None),
    ],
)
def test_objects_of_kryo_of_a_known_class(content, expected):
    assert read(KRYO, content) == expected


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x01\x00", "of another class"),
        (b"\x0c\x02", "of another class"),
        (b"\x0c\x01\x00\x00\x05ab\xe3", "a text of Kryo is damaged"),
        (b"\x0c\x01\x00\x00\x01\x83\xc3\xa4", "characters that no name has"),
        (b"\x0c\x01\x00\x00\x01ab", "at byte"),
    ],
)
def test_damaged_objects_of_kryo_are_refused(content, what):
    with pytest.raises(CheckpointError, match=what):
        read(KRYO, content)
