"""Bundles are cut where the time to work is over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.task.operator_chain import Pacing


class Time:
    def __init__(self):
        self.now, self.reads = 0.0, 0

    def __call__(self):
        self.reads += 1
        return self.now


def sizes(pacing, time, count, seconds_each, deadline=float("inf")):
    """The sizes of the slices of a bundle, if each element takes so long."""
    found = []
    for part in pacing.slices(count, deadline):
        found.append(part.stop - part.start)
        time.now += found[-1] * seconds_each
    return found


def test_what_is_fast_gets_longer_slices():
    time = Time()
    assert sizes(Pacing(time), time, 600, 0.0) == [1, 2, 4, 8, 16, 32, 64, 128, 128, 128, 89]
    assert time.reads == 12  # for each slice, not for each element


def test_what_is_slow_gets_one_element_at_a_time():
    time = Time()
    assert sizes(Pacing(time), time, 5, 1.0) == [1] * 5


def test_slices_become_shorter_when_a_function_becomes_slow():
    time = Time()
    pacing = Pacing(time)
    sizes(pacing, time, 1_000, 0.0)
    found = sizes(pacing, time, 300, 0.001)
    assert found[0] == 128  # nothing is known of the function's new pace before
    assert set(found[2:-1]) <= set(range(1, 11))


def test_a_deadline_ends_the_slices_after_at_least_one():
    time = Time()
    pacing = Pacing(time)
    assert sizes(pacing, time, 100, 1.0, deadline=0.0) == [1]
    assert pacing.taken == 1
    assert sizes(pacing, time, 100, 1.0, deadline=time.now + 3.0) == [1, 1, 1]
    assert pacing.taken == 3


def test_of_nothing_there_are_no_slices():
    pacing = Pacing(Time())
    assert list(pacing.slices(0, 0.0)) == []
    assert pacing.taken == 0


@given(st.lists(st.integers(0, 300)), st.sampled_from([0.0, 0.0001, 0.003, 0.2]), st.integers(0, 9))
def test_slices_follow_each_other_and_leave_nothing_out(counts, seconds_each, deadline):
    time = Time()
    pacing = Pacing(time)
    for count in counts:
        at = 0
        for part in pacing.slices(count, float(deadline)):
            assert part.start == at < part.stop <= count
            at = part.stop
            assert pacing.taken == at
            time.now += (part.stop - part.start) * seconds_each
        assert at == count or time.now >= deadline
