"""Key groups: pairs of bytes, maps over several pairs, namespaces of any length."""

from __future__ import annotations

import struct

import pytest

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark.flink_state.keyed_state import KeyedHeader, StateHeader, entries_of_group
from pyflink_on_spark.flink_state.metadata import Format
from pyflink_on_spark.flink_state.serializers import FlinkWindow, read_snapshot
from tests.flink_state.test_serializers import BASE, BYTES, WINDOWS, base
from tests.flink_state.written import composite, integers, longs, snapshot, string

TIME_WINDOW = snapshot(f"{WINDOWS}TimeWindow$Serializer$TimeWindowSerializerSnapshot")


def serializer(content):
    return read_snapshot(DataInput(content, "a snapshot"))


def header(*states):
    return KeyedHeader(compressed=False, key=serializer(base("String")), states=states)


def state(kind, value, namespace):
    return StateHeader(
        f"a {kind}", kind, {"value": serializer(value), "namespace": serializer(namespace)}
    )


VALUES = state("value", base("Int"), TIME_WINDOW)
LISTS = state("list", composite(f"{BASE}ListSerializerSnapshot", 1, b"", base("Int")), TIME_WINDOW)
MAPS = state(
    "map",
    composite(f"{BASE}MapSerializerSnapshot", 1, b"", base("String"), base("Int")),
    TIME_WINDOW,
)


def pair(key, value):
    return integers(len(key)) + key + integers(len(value)) + value


def group(number, *pairs):
    return struct.pack(">H", number) + b"".join(pairs)


def read(content, found, group=5, max_parallelism=128):
    data = DataInput(content, "a key group")
    entries = entries_of_group(data, group, found, Format.CANONICAL, max_parallelism)
    return [(e.key, e.namespace, e.value) for e in entries]


FIRST, LAST = b"\x05", b"\x85"
END = b"\xff\xff"
ONE, TWO = FlinkWindow("time", (1, 2)), FlinkWindow("time", (2, 3))


def test_a_value_has_a_key_and_a_namespace():
    content = group(
        0,
        pair(FIRST + string("a") + longs(1, 2), integers(7)),
        pair(LAST + string("b") + longs(2, 3), integers(8)),
    )
    assert read(content + END, header(VALUES)) == [("a", ONE, 7), ("b", TWO, 8)]


def test_states_follow_each_other():
    content = group(1, pair(LAST + string("a") + longs(1, 2), integers(7)))
    content += group(0, pair(LAST + string("a") + longs(1, 2), integers(8)))
    assert read(content + END, header(VALUES, VALUES)) == [("a", ONE, 7), ("a", ONE, 8)]


def test_the_elements_of_a_list_have_commas_between_them():
    value = integers(1) + b"," + integers(2) + b"," + integers(3)
    content = group(0, pair(LAST + string("a") + longs(1, 2), value))
    assert read(content + END, header(LISTS)) == [("a", ONE, [1, 2, 3])]


def test_the_entries_of_a_map_are_one_after_the_other():
    def entry(flag, key, window, name, value):
        return pair(flag + string(key) + longs(*window) + string(name), value)

    content = group(
        0,
        entry(FIRST, "a", (1, 2), "x", b"\x00" + integers(1)),
        entry(FIRST, "a", (1, 2), "y", b"\x01"),
        entry(FIRST, "a", (2, 3), "x", b"\x00" + integers(3)),
        entry(LAST, "b", (2, 3), "x", b"\x00" + integers(4)),
    )
    assert read(content + END, header(MAPS)) == [
        ("a", ONE, {"x": 1, "y": None}),
        ("a", TWO, {"x": 3}),
        ("b", TWO, {"x": 4}),
    ]


def test_namespaces_of_any_length_have_their_length_in_the_key():
    found = header(state("value", base("Int"), BYTES))
    key = string("abc") + b"\x04" + integers(300) + b"n" * 300 + b"\x30\x01"
    content = group(0, pair(LAST + key, integers(7)))
    assert read(content + END, found) == [("abc", b"n" * 300, 7)]
    damaged = content.replace(b"\x30\x01", b"\x31\x01")
    with pytest.raises(CheckpointError, match="length of a part of a key"):
        read(damaged + END, found)


def test_more_than_128_key_groups_have_two_bytes():
    key = b"\x85\x07" + string("a") + longs(1, 2)
    content = group(0, pair(key, integers(7)))
    assert read(content + END, header(VALUES), 0x507, 4096) == [("a", ONE, 7)]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            group(0, pair(b"\x86" + string("a") + longs(1, 2), integers(7))),
            "not in the key group 5",
        ),
        (group(1, pair(LAST + string("a") + longs(1, 2), integers(7))), "no state of the number 1"),
        (group(0, pair(LAST + string("a") + longs(1, 2, 3), integers(7))), "should end at byte"),
        (group(0, pair(LAST + string("a") + longs(1, 2), integers(7, 8))), "should end at byte"),
        (group(0, pair(FIRST + string("a") + longs(1, 2), integers(7))), "expected"),
        (group(0, pair(LAST + string("a") + longs(1, 2), integers(7))) + END, "are left"),
    ],
)
def test_damage_is_told_with_its_place(content, why):
    with pytest.raises(CheckpointError, match=rf"a key group, at byte \d+: .*{why}"):
        read(content + END, header(VALUES))
