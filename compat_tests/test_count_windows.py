"""count_window, and global windows with count triggers."""

from __future__ import annotations

import pytest
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    GlobalWindows,
    PurgingTrigger,
)

from compat_tests.running import collect, collect_sorted
from compat_tests.windowing import Times, add_times


def numbered(env, count, keys="k"):
    elements = [(key, i) for i in range(count) for key in keys]
    return env.from_collection(elements).key_by(lambda v: v[0])


def test_only_full_windows(env):
    assert collect(numbered(env, 5).count_window(2).process(Times())) == [[0, 1], [2, 3]]


def test_sliding(env):
    results = collect(numbered(env, 9).count_window(4, 2).process(Times()))
    assert results == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7]]


def test_a_slide_larger_than_the_size(env):
    results = collect(numbered(env, 8).count_window(2, 3).process(Times()))
    assert results == [[0, 1], [3, 4], [6, 7]]


def test_reduce(env):
    assert collect(numbered(env, 4).count_window(2).reduce(add_times)) == [("k", 1), ("k", 5)]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_per_key(env):
    results = collect_sorted(numbered(env, 3, keys="ab").count_window(2).reduce(add_times))
    assert results == [("a", 1), ("b", 1)]


def test_the_windows(env):
    class Shows(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield repr(context.window())

    assert collect(numbered(env, 4).count_window(2).process(Shows())) == [
        "CountWindow(id=0)", "CountWindow(id=1)",
    ]  # fmt: skip


def test_assigners(env):
    tumbling = numbered(env, 4).window(CountTumblingWindowAssigner.of(2))
    assert collect(tumbling.process(Times())) == [[0, 1], [2, 3]]
    sliding = numbered(env, 4).window(CountSlidingWindowAssigner.of(2, 1))
    assert collect(sliding.process(Times())) == [[0, 1], [1, 2], [2, 3]]


def test_for_all_keys(env):
    class All(ProcessAllWindowFunction):
        def process(self, context, elements):
            yield sorted(elements)

    stream = env.from_collection([1, 2, 3, 4, 5])
    assert collect(stream.window_all(CountTumblingWindowAssigner.of(2)).process(All())) == [
        [1, 2],
        [3, 4],
    ]
    assert collect(
        stream.window_all(CountSlidingWindowAssigner.of(2, 1)).reduce(lambda a, b: a + b)
    ) == [3, 5, 7, 9]


def test_count_trigger_on_a_global_window_keeps_the_contents(env):
    windows = numbered(env, 5).window(GlobalWindows.create()).trigger(CountTrigger.of(2))
    assert collect(windows.process(Times())) == [[0, 1], [0, 1, 2, 3]]


def test_purging_trigger_empties_the_window(env):
    trigger = PurgingTrigger.of(CountTrigger.of(2))
    windows = numbered(env, 5).window(GlobalWindows.create()).trigger(trigger)
    assert collect(windows.process(Times())) == [[0, 1], [2, 3]]
    assert collect(windows.reduce(add_times)) == [("k", 1), ("k", 5)]


def test_a_global_window_never_fires_by_itself(env):
    assert collect(numbered(env, 5).window(GlobalWindows.create()).process(Times())) == []
