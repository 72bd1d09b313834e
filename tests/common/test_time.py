"""Amounts of time and points in time."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Duration, Instant, Time


def test_durations_are_exact():
    assert Duration.of_seconds(60) == Duration.of_minutes(1)
    assert Duration.of_days(1) == Duration.of_hours(24)
    assert Duration.of_millis(1) == Duration.of_nanos(10**6)
    assert Duration.of_seconds(1) != Duration.of_nanos(10**9 - 1)
    assert Duration.of_seconds(1) != 1000
    assert Duration.of_nanos(1_999_999)._to_millis() == 1
    assert Duration.of_nanos(-1_999_999)._to_millis() == -1


@pytest.mark.parametrize("value", ["5", 1.5, True, None])
def test_durations_are_made_of_ints(value):
    with pytest.raises(TypeError, match=r"Duration\.of_millis"):
        Duration.of_millis(value)


def test_durations_have_an_end():
    Duration.of_millis(2**63 - 1)
    Duration.of_seconds(-(2**63) + 1)
    for too_long in (lambda: Duration.of_millis(2**63), lambda: Duration.of_days(2**62)):
        with pytest.raises(OverflowError):
            too_long()


@pytest.mark.parametrize("value", [Duration.of_seconds(1), Time.seconds(1), Instant(1, 2)])
def test_none_of_them_can_be_a_key(value):
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


def test_lengths():
    assert Time.days(1) == Time.hours(24) == Time.minutes(1440) == Time.seconds(86_400)
    assert Time.seconds(1.5).to_milliseconds() == 1500.0
    assert str(Time.milliseconds(5)) == "5 ms"
    assert Time(1000) != 1000


@pytest.mark.parametrize("millis", [0, 1, -1, 999, 1234, -1500, -999, 2**53])
def test_an_instant_gives_back_its_milliseconds(millis):
    assert Instant.of_epoch_milli(millis).to_epoch_milli() == millis


def test_instants():
    assert Instant.of_epoch_milli(-1) == Instant(-1, 999_000_000)
    assert repr(Instant(1, 2)) == "Instant<1, 2>"
    assert Instant(0, 1_500_000).to_epoch_milli() == 1
    assert Instant(1, 2) != (1, 2)
