"""BATCH mode: elements of a key in order of time, timers at its end, windows."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, ProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

from compat_tests.pacing import paced, timed, watermark_after_every_element
from compat_tests.running import collect, collect_sorted
from compat_tests.windowing import (
    Average,
    Contents,
    Times,
    add_times,
    keyed_by_first,
    session,
    sliding,
    tumbling,
)  # fmt: skip

LOWEST = -(2**63)
HIGHEST = 2**63 - 1
VALUES = [("a", 30), ("b", 5), ("a", 10), ("b", 1), ("a", 20)]


@pytest.fixture
def keyed(batch_env):
    return keyed_by_first(timed(batch_env.from_collection(VALUES)))


hangs = pytest.mark.pyflink_bug("windows of a key that has several hang", run=False)


class Seen(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], value[1], ctx.timestamp(), ctx.timer_service().current_watermark()


def by_key(results):
    keys = list(dict.fromkeys(value[0] for value in results))
    assert [value[0] for value in results] == sorted(
        (value[0] for value in results), key=keys.index
    ), "the elements of a key are not together"
    return {key: [value[1:] for value in results if value[0] == key] for key in sorted(keys)}


def test_a_key_s_elements_are_sorted_by_time(keyed):
    assert by_key(collect(keyed.process(Seen()))) == {
        "a": [(10, 10, LOWEST), (20, 20, LOWEST), (30, 30, LOWEST)],
        "b": [(1, 1, LOWEST), (5, 5, LOWEST)],
    }


class TimersOnly(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 100)
        yield value[0], "element", value[1]

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), "timer", timestamp, ctx.timer_service().current_watermark()


@pytest.mark.pyflink_bug("timers of a key may fire twice or late")
def test_timers_fire_at_the_end_of_their_key(keyed):
    assert by_key(collect(keyed.process(TimersOnly()))) == {
        "a": [("element", 10), ("element", 20), ("element", 30),
              ("timer", 110, HIGHEST), ("timer", 120, HIGHEST), ("timer", 130, HIGHEST)],
        "b": [("element", 1), ("element", 5), ("timer", 101, HIGHEST), ("timer", 105, HIGHEST)],
    }  # fmt: skip


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield value[0], value[1], self.count.value()


def test_state_within_process_element(keyed):
    assert by_key(collect(keyed.process(Count()))) == {
        "a": [(10, 1), (20, 2), (30, 3)],
        "b": [(1, 1), (5, 2)],
    }


@hangs
def test_tumbling_windows_with_reduce(keyed):
    results = collect_sorted(keyed.window(tumbling(20)).reduce(add_times))
    assert results == [("a", 10), ("a", 50), ("b", 6)]


@hangs
def test_tumbling_windows_with_aggregate(keyed):
    assert collect_sorted(keyed.window(tumbling(20)).aggregate(Average())) == [3.0, 10.0, 25.0]


@hangs
def test_sliding_windows_with_reduce(keyed):
    assert collect_sorted(keyed.window(sliding(40, 20)).reduce(add_times)) == [
        ("a", 10), ("a", 50), ("a", 60), ("b", 6), ("b", 6),
    ]  # fmt: skip


def test_count_windows(keyed):
    assert collect_sorted(keyed.count_window(2).process(Times())) == [[1, 5], [10, 20]]


def test_rolling_results_of_several_keyed_operators(batch_env):
    stream = batch_env.from_collection([("a", 1), ("b", 1), ("a", 2), ("c", 5)])
    sums = stream.key_by(lambda v: v[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    totals = sums.map(lambda v: ("all", v[1])).key_by(lambda v: v[0]).sum(1)
    assert collect(totals) == [("all", 9)]


def test_a_rolling_result_combines_a_key_s_elements_in_order_of_time(keyed):
    assert collect_sorted(keyed.reduce(lambda a, b: (a[0], a[1] * 100 + b[1]))) == [
        ("a", 102030), ("b", 105),
    ]  # fmt: skip


@pytest.mark.parametrize("chained", [True, False])
def test_a_rolling_result_comes_at_the_end_of_event_time(keyed, chained):
    class Clock(ProcessFunction):
        def process_element(self, value, ctx):
            yield value[0], ctx.timestamp(), ctx.timer_service().current_watermark()

    sums = keyed.sum(1)
    seen = (sums if chained else sums.rebalance()).process(Clock())
    watermark = HIGHEST if chained else LOWEST
    assert collect_sorted(seen) == [("a", HIGHEST, watermark), ("b", HIGHEST, watermark)]


def test_no_watermark_comes_before_the_end(batch_env):
    class Clock(ProcessFunction):
        def process_element(self, value, ctx):
            yield value[1], ctx.timer_service().current_watermark()

    watermark_after_every_element(batch_env)
    stream = paced(batch_env, [("a", 30), ("b", 40), ("c", 50)])
    assert collect_sorted(stream.process(Clock())) == [(30, LOWEST), (40, LOWEST), (50, LOWEST)]


@pytest.mark.parametrize("windows", [tumbling(20), sliding(20, 10), session(5)])
def test_no_window_can_hold_what_a_reduce_gives(keyed, windows):
    """It has the largest timestamp."""
    results = keyed_by_first(keyed.reduce(add_times)).window(windows)
    with pytest.raises(Exception, match="OverflowError"):
        collect(results.reduce(add_times))


@pytest.mark.pyflink_bug("what a timer reads from list state is lost")
def test_list_state_read_by_a_timer(keyed):
    class Collects(KeyedProcessFunction):
        def open(self, runtime_context):
            self.seen = runtime_context.get_list_state(ListStateDescriptor("l", Types.LONG()))

        def process_element(self, value, ctx):
            self.seen.add(value[1])
            ctx.timer_service().register_event_time_timer(1000)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), list(self.seen)

    assert collect_sorted(keyed.process(Collects())) == [("a", [10, 20, 30]), ("b", [1, 5])]


@pytest.mark.pyflink_bug("windows with process lose their elements, or hang", run=False)
def test_windows_with_process(keyed):
    assert collect_sorted(keyed.window(tumbling(20)).process(Contents())) == [
        ("a", 0, 20, [10]), ("a", 20, 40, [20, 30]), ("b", 0, 20, [1, 5]),
    ]  # fmt: skip


@pytest.mark.pyflink_bug("session windows lose their elements, or hang", run=False)
def test_session_windows(keyed):
    assert collect_sorted(keyed.window(session(11)).process(Contents())) == [
        ("a", 10, 41, [10, 20, 30]), ("b", 1, 16, [1, 5]),
    ]  # fmt: skip
