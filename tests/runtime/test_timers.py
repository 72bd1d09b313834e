"""The timer queue and the timer services."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.state.timers import NonKeyedTimerService, TimerQueue, Timers
from tests.runtime.harness import FakeClock

HOUR = 3_600_000


def test_order():
    queue = TimerQueue()
    for time, key in [(30, "a"), (10, "b"), (10, "a"), (20, "a"), (10, "b")]:
        queue.register(time, key, None)
    assert queue.earliest() == 10
    assert queue.pop_due(20) == [(10, "b", None), (10, "a", None), (20, "a", None)]
    assert queue.pop_due(20) == []
    assert queue.earliest() == 30


def test_deleted_timers_are_not_waited_for():
    queue = TimerQueue()
    queue.register(10, "a", None)
    queue.register(20, "a", None)
    queue.delete(10, "a", None)
    queue.delete(11, "a", None)
    queue.delete(20, "b", None)
    assert queue.earliest() == 20
    queue.register(10, "a", None)
    assert queue.pop_due(10) == [(10, "a", None)]


def test_namespaces_are_apart():
    queue = TimerQueue()
    queue.register(10, "a", "w1")
    queue.register(10, "a", "w2")
    queue.delete(10, "a", "w1")
    assert queue.pop_due(10) == [(10, "a", "w2")]


TIMES = st.builds(lambda minutes, ms: minutes * 60_000 + ms, st.integers(-9, 30), st.integers(0, 3))


@given(
    st.lists(
        st.tuples(st.sampled_from(["register", "delete", "pop"]), TIMES, st.sampled_from("ab"))
    )
)
def test_queue_is_a_sorted_set(steps):
    queue, expected = TimerQueue(), set()
    for step, time, key in steps:
        timer = time, key, None
        if step == "register":
            queue.register(*timer)
            expected.add(timer)
        elif step == "delete":
            queue.delete(*timer)
            expected.discard(timer)
        else:
            due = queue.pop_due(time)
            assert [time for time, *_ in due] == sorted(time for time, *_ in due)
            assert set(due) == {timer for timer in expected if timer[0] <= time}
            expected -= set(due)
        assert (timer in queue) == (timer in expected)
        assert queue.times or not expected
        assert queue.earliest() == min((time for time, *_ in expected), default=None)
        assert bool(queue.times) == bool(expected)
    assert set(queue) == expected
    assert [time for time, *_ in queue] == sorted(time for time, *_ in expected)


def test_a_deleted_timer_that_is_not_due_soon_takes_no_memory():
    queue = TimerQueue()
    queue.register(0, "a", None)
    for time in range(HOUR, HOUR + 1_000):
        queue.register(time, "a", None)
        queue.delete(time, "a", None)
    queue.delete(0, "a", None)
    assert queue.earliest() is None
    assert list(queue) == list(queue.times) == []


@given(st.lists(st.integers(0, 200), unique=True), st.integers(-1, 201))
def test_due_times_are_taken_in_order_and_the_rest_stays(times, limit):
    queue = TimerQueue()
    for time in times:
        queue.register(time, "a", None)
    assert [time for time, *_ in queue.pop_due(limit)] == sorted(t for t in times if t <= limit)
    queue.register(300, "a", None)
    rest = sorted(t for t in times if t > limit)
    assert queue.earliest() == min(rest, default=300)
    assert [time for time, *_ in queue.pop_due(300)] == [*rest, 300]


def test_processing_time_timer_is_due_after_its_time():
    timers = Timers(FakeClock())
    timers.processing.register(10, "a", None)
    assert timers.next_processing_time() == 11
    assert list(timers.due_by_clock(10)) == []
    assert list(timers.due_by_clock(11)) == [(10, "a", None)]
    assert timers.next_processing_time() is None


def test_without_key():
    service = NonKeyedTimerService(FakeClock(5))
    assert service.current_processing_time() == 5
    assert service.current_watermark() == MIN_TIMESTAMP
    for name in ("register_processing_time_timer", "register_event_time_timer"):
        with pytest.raises(Exception, match="Register timers is only supported on a keyed stream"):
            getattr(service, name)(1)
    for name in ("delete_processing_time_timer", "delete_event_time_timer"):
        with pytest.raises(Exception, match="only supported on a keyed stream"):
            getattr(service, name)(1)
