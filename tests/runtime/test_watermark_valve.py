"""The event time of a chain: over the channels of an input, and over its inputs."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.bundle import (
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    ChannelStatus,
    CombinedTime,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.elements.time import EventTime, WatermarkValve


def valve_at(**marks):
    """Return a valve with a watermark on each channel."""
    valve = WatermarkValve(marks)
    for channel, mark in marks.items():
        valve.watermark(channel, mark)
    return valve


def test_the_smallest_counts():
    valve = WatermarkValve("ab")
    assert valve.watermark("a", 10) is None
    assert valve.watermark("b", 5) == 5
    assert valve.watermark("b", 20) == 10
    assert valve.current == 10


def test_it_never_goes_back():
    valve = valve_at(a=10, b=10)
    assert valve.current == 10
    assert valve.watermark("a", 7) is None
    assert valve.watermark("b", 30) is None
    assert valve.watermark("a", 20) == 20


def test_an_idle_channel_holds_nothing_back():
    valve = valve_at(a=10, b=5)
    assert valve.status("b", idle=True) == 10
    assert not valve.idle
    assert valve.watermark("a", 20) == 20


def test_a_channel_that_is_active_again_counts_from_when_it_has_caught_up():
    valve = valve_at(a=10, b=5)
    valve.status("b", idle=True)
    assert valve.status("b", idle=False) is None
    assert valve.watermark("b", 7) is None
    assert valve.watermark("a", 20) == 20
    assert valve.watermark("b", 20) is None
    assert valve.watermark("a", 30) is None
    assert valve.watermark("b", 25) == 25


@pytest.mark.parametrize("mark", [10, 15])
def test_a_channel_that_is_active_again_and_not_behind_counts_at_once(mark):
    valve = valve_at(a=10, b=mark)
    valve.status("b", idle=True)
    valve.status("b", idle=False)
    valve.watermark("a", 20)
    assert valve.current == mark


def test_what_was_behind_still_is_in_a_valve_that_was_saved():
    valve, restored = valve_at(a=10, b=5), WatermarkValve("ab")
    valve.status("b", idle=True)
    valve.status("b", idle=False)
    restored.load(valve.save())
    assert restored.watermark("a", 20) == 20


def test_an_idle_channel_has_no_watermarks():
    valve = valve_at(a=10, b=5)
    valve.status("b", idle=True)
    valve.watermark("b", 100)
    valve.status("b", idle=False)
    assert valve.watermark("a", 20) == 20
    assert valve.watermark("b", 50) is None
    assert valve.watermark("a", 60) == 50


def test_all_idle_means_the_largest():
    valve = valve_at(a=10, b=30)
    assert valve.status("a", idle=True) == 30
    assert valve.status("b", idle=True) is None
    assert valve.idle
    valve = valve_at(a=10, b=30, c=20)
    assert valve.status("b", idle=True) is None
    assert valve.status("a", idle=True) == 20
    assert valve.status("c", idle=True) == 30


def test_the_largest_does_not_count_where_the_last_one_was_behind():
    valve = valve_at(a=10, b=5, c=100)
    valve.status("c", idle=True)
    assert valve.status("b", idle=True) == 10
    valve.status("b", idle=False)
    assert valve.status("a", idle=True) is None
    assert valve.status("b", idle=True) is None
    assert valve.idle
    assert valve.current == 10


def test_an_ended_channel_is_active():
    valve = valve_at(a=10, b=5)
    assert valve.end("b") == 10
    assert not valve.ended
    assert valve.status("a", idle=True) == MAX_WATERMARK
    assert not valve.idle
    assert valve.end("a") is None
    assert valve.ended


def test_the_end_of_an_idle_channel():
    valve = WatermarkValve("ab")
    valve.status("b", idle=True)
    assert valve.end("b") is None
    assert valve.watermark("a", 3) == 3


def test_without_channels_nothing_is_open():
    assert WatermarkValve(()).ended
    assert WatermarkValve(()).current == MIN_TIMESTAMP
    assert EventTime({}).ended


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


class Model:
    """The rules in words: the channels that are ``aligned`` count, the others do not."""

    def __init__(self, channels):
        self.marks = dict.fromkeys(channels, MIN_TIMESTAMP)
        self.active, self.aligned = set(channels), set(channels)
        self.current = MIN_TIMESTAMP

    def watermark(self, channel, mark):
        if channel in self.active and mark > self.marks[channel]:
            self.marks[channel] = mark
            if mark >= self.current:
                self.aligned.add(channel)
            self._smallest()

    def status(self, channel, idle):
        mark = self.marks[channel]
        if idle and channel in self.active:
            self.active.remove(channel)
            self.aligned.discard(channel)
            if mark == self.current and self.active:
                self._smallest()
            elif mark == self.current:
                self.current = max(self.marks.values())
        elif not idle and channel not in self.active:
            self.active.add(channel)
            if mark >= self.current:
                self.aligned.add(channel)

    def _smallest(self):
        if self.aligned:
            self.current = max(self.current, min(self.marks[name] for name in self.aligned))


EVENTS = st.one_of(
    st.builds(Watermark, st.integers(0, 20)), st.builds(ChannelStatus, st.booleans())
)


@given(st.lists(st.tuples(st.sampled_from("abc"), EVENTS, st.booleans())))
def test_the_model_of_idleness(events):
    """It makes no difference where a valve is saved and loaded."""
    valve, model = WatermarkValve("abc"), Model("abc")
    for channel, event, restored in events:
        before = valve.current
        advanced = valve.take(channel, event)
        if isinstance(event, Watermark):
            model.watermark(channel, event.timestamp)
        else:
            model.status(channel, event.idle)
        assert valve.current == model.current
        assert advanced == (valve.current if valve.current > before else None)
        assert valve.idle == (not model.active)
        assert valve.idle_channels == set("abc") - model.active
        if restored:
            saved, valve = valve.save(), WatermarkValve("abc")
            valve.load(saved)


# -- inputs ----------------------------------------------------------------------------------------


def test_the_smallest_of_the_inputs_counts():
    time = EventTime({"a": 0, "b": 0, "c": 1})
    assert time.take("a", Watermark(10)) is None
    assert time.take("c", Watermark(7)) is None
    assert time.take("b", Watermark(5)) == 5
    assert time.take("b", Watermark(20)) == 7
    assert time.current == 7


def test_an_idle_input_holds_nothing_back_and_an_active_one_does_at_once():
    time = EventTime({"a": 0, "b": 1})
    time.take("a", Watermark(5))
    time.take("b", Watermark(10))
    assert time.take("a", ChannelStatus(idle=True)) == 10
    assert time.take("a", ChannelStatus(idle=False)) is None
    assert time.take("b", Watermark(20)) is None
    assert time.take("a", Watermark(15)) == 15


def test_the_time_stays_where_all_inputs_are_idle():
    time = EventTime({"a": 0, "b": 1})
    time.take("a", Watermark(5))
    time.take("b", Watermark(10))
    time.take("b", ChannelStatus(idle=True))
    assert not time.idle
    assert time.take("a", ChannelStatus(idle=True)) is None
    assert time.idle
    assert time.idle_channels == {"a", "b"}
    assert time.current == 5
    time.take("b", ChannelStatus(idle=False))
    assert not time.idle


def test_an_input_emits_its_largest_watermark_before_it_is_idle():
    time = EventTime({"a": 0, "b": 0, "c": 1})
    for channel, mark in {"a": 5, "b": 30, "c": 10}.items():
        time.take(channel, Watermark(mark))
    time.take("c", ChannelStatus(idle=True))
    time.take("b", ChannelStatus(idle=True))
    assert time.take("a", ChannelStatus(idle=True)) == 30
    assert time.idle


def test_an_input_that_has_ended_holds_nothing_back():
    time = EventTime({"a": 0, "b": 1})
    time.take("b", Watermark(10))
    assert time.take("a", EndOfInput()) == 10
    assert not time.ended
    assert time.take("b", CombinedTime(MAX_WATERMARK, ended=True)) == MAX_WATERMARK
    assert time.ended


@given(st.lists(st.tuples(st.sampled_from("abc"), EVENTS), max_size=20), st.integers(0, 20))
def test_a_time_that_was_saved_goes_on_as_before(events, cut):
    ports = {"a": 0, "b": 0, "c": 1}
    whole, before, after = EventTime(ports), EventTime(ports), EventTime(ports)
    found = [whole.take(*each) for each in events]
    told = [before.take(*each) for each in events[:cut]]
    after.load(before.save())
    assert told + [after.take(*each) for each in events[cut:]] == found
    assert (after.current, after.idle, after.ended) == (whole.current, whole.idle, whole.ended)
