"""When the next watermark is due."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.watermark_rhythm import WatermarkRhythm, WatermarkTimer


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
    timer = WatermarkTimer(WatermarkRhythm(elements=None, milliseconds=200), now=1_000)
    timer.seen(10**6)
    assert timer.room(4_096) == 4_096
    assert not timer.due(1_199)
    assert timer.due(1_200)
    assert not timer.due_by_count
    timer.reset(1_250)
    assert not timer.due(1_449)
    assert timer.due(1_450)


def test_a_clock_that_was_set_back_makes_one_due():
    timer = WatermarkTimer(WatermarkRhythm(elements=None, milliseconds=200), now=1_000)
    assert timer.due(999)


def test_without_limits_none_is_due():
    rhythm = WatermarkRhythm(elements=None, milliseconds=None)
    timer = WatermarkTimer(rhythm, now=0)
    timer.seen(10**6)
    assert rhythm.never
    assert not timer.due(10**9)
    assert not WatermarkRhythm().never
    assert not WatermarkRhythm(None, 200).never
