from __future__ import annotations

import pickle
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from pyflink_on_spark.datastream.window import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
    mod_inverse,
)
from tests.datastream.window_contexts import Merges

TIMES = st.integers(-(10**6), 10**6)


def windows(*bounds):
    return [TimeWindow(start, end) for start, end in bounds]


@pytest.mark.parametrize(
    ("timestamp", "offset", "size", "start"),
    [
        (0, 0, 5, 0),
        (4, 0, 5, 0),
        (5, 0, 5, 5),
        (-1, 0, 5, -5),
        (-5, 0, 5, -5),
        (-6, 0, 5, -10),
        (7, 2, 5, 7),
        (6, 2, 5, 2),
        (1, -2, 5, -2),
        (3, -2, 5, 3),
    ],
)
def test_start_of_a_window(timestamp, offset, size, start):
    assert TimeWindow.get_window_start_with_offset(timestamp, offset, size) == start


@for_all(TIMES, st.integers(1, 1000), st.integers(-999, 999))
def test_a_window_contains_the_time_it_was_made_for(timestamp, size, offset):
    start = TimeWindow.get_window_start_with_offset(timestamp, offset, size)
    assert start <= timestamp < start + size
    assert (start - offset) % size == 0


def test_windows_that_touch_intersect():
    first, second = windows((0, 5), (5, 8))
    assert first.intersects(second)
    assert second.intersects(first)
    assert not first.intersects(TimeWindow(6, 8))
    assert first.cover(TimeWindow(7, 9)) == TimeWindow(0, 9)
    assert first.max_timestamp() == 4


def test_windows_are_values():
    assert TimeWindow(0, 5) == TimeWindow(0, 5)
    assert hash(TimeWindow(0, 5)) == hash(TimeWindow(0, 5))
    assert TimeWindow(0, 5) != TimeWindow(0, 6)
    assert TimeWindow(0, 5) < TimeWindow(0, 6) < TimeWindow(1, 2)
    assert TimeWindow(0, 5) <= TimeWindow(0, 5)
    assert TimeWindow(0, 5) != CountWindow(0)
    assert CountWindow(3) == CountWindow(3) != CountWindow(4)
    assert GlobalWindow() == GlobalWindow.get()
    assert len({GlobalWindow(), GlobalWindow.get(), CountWindow(1), CountWindow(1)}) == 2
    with pytest.raises(Exception, match="non-TimeWindow CountWindow"):
        assert TimeWindow(0, 5) < CountWindow(1)


def test_windows_show_themselves():
    shown = [repr(w) for w in (TimeWindow(0, 5000), CountWindow(2), GlobalWindow())]
    assert shown == ["TimeWindow(start=0, end=5000)", "CountWindow(id=2)", "GlobalWindow"]
    assert CountWindow(0).max_timestamp() == GlobalWindow().max_timestamp() == 2**63 - 1


def test_windows_survive_pickling():
    for window in (TimeWindow(-3, 5), CountWindow(2), GlobalWindow()):
        assert pickle.loads(pickle.dumps(window)) == window


def test_merging_joins_what_overlaps_or_touches():
    merges = Merges()
    TimeWindow.merge_windows(
        windows((10, 12), (0, 5), (5, 7), (20, 25), (24, 30), (11, 13)), merges
    )
    assert merges.seen == [
        (windows((0, 5), (5, 7)), TimeWindow(0, 7)),
        (windows((10, 12), (11, 13)), TimeWindow(10, 13)),
        (windows((20, 25), (24, 30)), TimeWindow(20, 30)),
    ]


def test_merging_leaves_single_windows_alone():
    merges = Merges()
    TimeWindow.merge_windows([], merges)
    TimeWindow.merge_windows(windows((0, 5), (6, 7)), merges)
    assert merges.seen == []


@for_all(st.lists(st.tuples(TIMES, st.integers(1, 10**5)), max_size=30))
def test_merged_windows_cover_their_parts_and_lie_apart(pairs):
    made = [TimeWindow(start, start + length) for start, length in pairs]
    merges = Merges()
    TimeWindow.merge_windows(made, merges)
    absorbed = {w for parts, _ in merges.seen for w in parts}
    for parts, whole in merges.seen:
        assert min(w.start for w in parts) == whole.start
        assert max(w.end for w in parts) == whole.end
    left = [w for w in set(made) if w not in absorbed] + [whole for _, whole in merges.seen]
    left.sort()
    assert not any(a.intersects(b) for a, b in pairwise(left))


def test_serializers_write_big_endian():
    stream = BytesIO()
    TimeWindowSerializer().serialize(TimeWindow(-2, 258), stream)
    CountWindowSerializer().serialize(CountWindow(3), stream)
    GlobalWindowSerializer().serialize(GlobalWindow(), stream)
    CountWindowSerializer().serialize(CountWindow(4), stream)
    assert stream.getvalue()[:17] == b"\xff" * 7 + b"\xfe" + b"\0" * 6 + b"\1\2" + b"\0"
    stream.seek(0)
    assert TimeWindowSerializer().deserialize(stream) == TimeWindow(-2, 258)
    assert CountWindowSerializer().deserialize(stream) == CountWindow(3)
    assert GlobalWindowSerializer().deserialize(stream) == GlobalWindow()
    assert CountWindowSerializer().deserialize(stream) == CountWindow(4)


@pytest.mark.parametrize("number", [1, 3, -7, 10001])
def test_mod_inverse(number):
    assert number * mod_inverse(number) % 2**32 == 1
