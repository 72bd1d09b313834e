"""When the next watermark is due."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.time import WatermarkRhythm, WatermarkTimer


def test_after_a_number_of_elements():
    timer = WatermarkTimer(WatermarkRhythm(elements=10, milliseconds=None), now=0)
    timer.seen(9)
    assert not timer.due(10**9)
    timer.seen(1)
    assert timer.due_by_count
    assert timer.due(0)
    timer.reset(0)
    assert not timer.due(0)


@pytest.mark.parametrize(
    ("seen", "most", "room"),
    [(0, 4, 4), (0, 10, 10), (0, 99, 10), (7, 99, 3), (10, 99, 1), (12, 99, 1)],
)
def test_how_many_elements_may_come_before(seen, most, room):
    timer = WatermarkTimer(WatermarkRhythm(elements=10, milliseconds=None), now=0)
    timer.seen(seen)
    assert timer.room(most) == room


def test_after_a_time():
    timer = WatermarkTimer(WatermarkRhythm(elements=None, milliseconds=200), now=1_100)
    timer.seen(10**6)
    assert timer.room(4_096) == 4_096
    assert not timer.due(1_449)
    assert timer.due(1_450)
    assert not timer.due_by_count
    timer.reset(1_460)
    assert not timer.due(1_649)
    assert timer.due(1_650)


@given(st.integers(1, 5_000), st.integers(0, 10**6))
def test_none_is_due_before_an_interval_has_passed(interval, begin):
    timer = WatermarkTimer(WatermarkRhythm(None, interval), begin)
    assert not any(timer.due(now) for now in (begin, begin + interval - 1))
    assert timer.due(begin + 2 * interval)


@given(st.integers(1, 5_000), st.lists(st.integers(0, 10**6), min_size=2))
def test_timers_are_due_together_whenever_they_began(interval, beginnings):
    now = max(beginnings) + 2 * interval
    timers = [WatermarkTimer(WatermarkRhythm(None, interval), begun) for begun in beginnings]
    for timer in timers:
        assert timer.due(now)
        timer.reset(now)
    due = [timer for timer in timers if timer.due(now + interval // 2)]
    assert due in ([], timers)
    assert all(timer.due(now + interval) for timer in timers)


def test_a_clock_that_was_set_back_makes_one_due():
    timer = WatermarkTimer(WatermarkRhythm(elements=None, milliseconds=200), now=1_050)
    assert timer.due(1_049)


def test_without_limits_none_is_due():
    rhythm = WatermarkRhythm(elements=None, milliseconds=None)
    timer = WatermarkTimer(rhythm, now=0)
    timer.seen(10**6)
    assert rhythm.never
    assert not timer.due(10**9)
    assert not WatermarkRhythm().never
    assert not WatermarkRhythm(None, 200).never
