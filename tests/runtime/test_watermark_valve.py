"""The watermark of several channels."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.task.operator_chain import WatermarkValve


def test_the_smallest_counts():
    valve = WatermarkValve("ab")
    assert valve.watermark("a", 10) is None
    assert valve.watermark("b", 5) == 5
    assert valve.watermark("b", 20) == 10
    assert valve.current == 10


def test_it_never_goes_back():
    valve = WatermarkValve("ab")
    valve.watermark("a", 10)
    assert valve.watermark("b", 10) == 10
    assert valve.watermark("a", 7) is None
    assert valve.watermark("b", 30) is None
    assert valve.watermark("a", 20) == 20


def test_an_idle_channel_holds_nothing_back():
    valve = WatermarkValve("ab")
    valve.watermark("a", 10)
    assert valve.status("b", True) == 10
    assert not valve.idle
    assert valve.status("b", False) is None
    assert valve.watermark("a", 20) is None
    assert valve.watermark("b", 15) == 15


def test_all_idle_means_the_largest():
    valve = WatermarkValve("ab")
    valve.watermark("a", 10)
    valve.watermark("b", 30)
    assert valve.status("a", True) == 30
    assert valve.status("b", True) is None
    assert valve.idle


def test_an_ended_channel_holds_nothing_back():
    valve = WatermarkValve("ab")
    valve.watermark("a", 10)
    assert valve.end("b") == 10
    assert not valve.ended
    assert valve.end("a") == MAX_WATERMARK
    assert valve.ended
    assert not valve.idle


def test_an_ended_channel_does_not_hide_that_the_others_are_idle():
    valve = WatermarkValve("ab")
    valve.end("b")
    valve.watermark("a", 10)
    valve.status("a", True)
    assert valve.idle
    assert valve.current == 10


def test_the_end_of_an_idle_channel():
    valve = WatermarkValve("ab")
    valve.status("b", True)
    valve.end("b")
    assert valve.watermark("a", 3) == 3


def test_without_channels_nothing_is_open():
    assert WatermarkValve(()).ended
    assert WatermarkValve(()).current == MIN_TIMESTAMP


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9))))
def test_the_model(marks):
    valve, largest, advanced = WatermarkValve("abc"), dict.fromkeys("abc", MIN_TIMESTAMP), []
    for channel, mark in marks:
        largest[channel] = max(largest[channel], mark)
        found = valve.watermark(channel, mark)
        assert valve.current == min(largest.values())
        if found is not None:
            advanced.append(found)
    assert advanced == sorted(set(advanced))


def test_watermarks_of_many_channels_in_any_order():
    valve, marks, chance = WatermarkValve(range(40)), dict.fromkeys(range(40), 0), Random(5)
    for channel in marks:
        valve.watermark(channel, 0)
    for _ in range(2_000):
        channel = chance.choice([1, chance.randrange(40)])
        marks[channel] += chance.randrange(9)
        before = valve.current
        now = valve.watermark(channel, marks[channel])
        assert valve.current == min(marks.values())
        assert now == (None if valve.current == before else valve.current)
