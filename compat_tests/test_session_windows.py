"""Session windows: gaps, merging, dynamic gaps."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor

from compat_tests.pacing import timed
from compat_tests.running import collect, collect_sorted
from compat_tests.windowing import Average, Contents, add_times, elements, keyed_by_first, session


def test_gaps(env):
    results = collect(elements(env, 1, 5, 20, 25).window(session(10)).process(Contents()))
    assert results == [("k", 1, 15, [1, 5]), ("k", 20, 35, [20, 25])]


def test_windows_that_touch_are_merged(env):
    results = collect(elements(env, 0, 10, 21).window(session(10)).process(Contents()))
    assert results == [("k", 0, 20, [0, 10]), ("k", 21, 31, [21])]


def test_an_element_bridges_two_sessions(env):
    ((key, start, end, found),) = collect(
        elements(env, 0, 16, 8).window(session(10)).process(Contents())
    )
    assert (key, start, end, sorted(found)) == ("k", 0, 26, [0, 8, 16])


def test_sessions_in_any_order_of_arrival(env):
    results = collect(elements(env, 30, 2, 33, 1).window(session(5)).process(Contents()))
    assert [(start, end, sorted(found)) for _, start, end, found in results] == [
        (1, 7, [1, 2]), (30, 38, [30, 33]),
    ]  # fmt: skip


def test_sessions_are_per_key(env):
    values = [("a", 1), ("b", 4), ("a", 8), ("b", 20)]
    windows = keyed_by_first(timed(env.from_collection(values))).window(session(5))
    assert collect_sorted(windows.process(Contents())) == [
        ("a", 1, 6, [1]), ("a", 8, 13, [8]), ("b", 4, 9, [4]), ("b", 20, 25, [20]),
    ]  # fmt: skip


def test_reduce_and_aggregate(env):
    stream = elements(env, 1, 5, 20)
    assert collect(stream.window(session(10)).reduce(add_times)) == [("k", 6), ("k", 20)]
    assert collect(stream.window(session(10)).aggregate(Average())) == [3.0, 20.0]


@pytest.mark.pyflink_bug("the elements of the later session are lost when two are merged")
def test_reduce_over_bridged_sessions(env):
    assert collect(elements(env, 1, 17, 9).window(session(10)).reduce(add_times)) == [("k", 27)]


@pytest.mark.pyflink_bug("the elements of the later session are lost when two are merged")
def test_aggregate_over_bridged_sessions(env):
    assert collect(elements(env, 1, 17, 9).window(session(10)).aggregate(Average())) == [9.0]


class GapOfElement(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


def test_dynamic_gap(env):
    values = [("k", 0, 5), ("k", 4, 20), ("k", 23, 1), ("k", 30, 1)]
    windows = keyed_by_first(timed(env.from_collection(values))).window(
        EventTimeSessionWindows.with_dynamic_gap(GapOfElement())
    )
    assert collect(windows.process(Contents())) == [("k", 0, 24, [0, 4, 23]), ("k", 30, 31, [30])]


def test_window_state_is_refused(env):
    class Counts(ProcessWindowFunction):
        def process(self, key, context, elements):
            context.window_state().get_state(ValueStateDescriptor("n", Types.INT()))
            yield 1

    message = r"Per-window state is not allowed when using merging windows."
    with pytest.raises(Exception, match=message):
        collect(elements(env, 1).window(session(10)).process(Counts()))


def test_global_state_is_allowed(env):
    class Counts(ProcessWindowFunction):
        def process(self, key, context, elements):
            state = context.global_state().get_state(ValueStateDescriptor("n", Types.INT()))
            state.update((state.value() or 0) + 1)
            yield state.value()

    assert collect(elements(env, 1, 50, 100).window(session(10)).process(Counts())) == [1, 2, 3]
