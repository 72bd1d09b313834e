"""Tumbling and sliding event-time windows, with each kind of function."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction, WindowFunction

from compat_tests.pacing import timed
from compat_tests.running import collect, collect_sorted
from compat_tests.windowing import (
    AppliedContents,
    Average,
    Contents,
    add_times,
    elements,
    keyed_by_first,
    sliding,
    tumbling,
)


@pytest.mark.parametrize("evaluate", [
    lambda windows: windows.process(Contents()),
    lambda windows: windows.apply(AppliedContents()),
], ids=["process", "apply"])  # fmt: skip
def test_tumbling(env, evaluate):
    results = collect(evaluate(elements(env, 1, 9, 10, 25).window(tumbling(10))))
    assert results == [("k", 0, 10, [1, 9]), ("k", 10, 20, [10]), ("k", 20, 30, [25])]


def test_offset(env):
    results = collect(elements(env, 2, 3, 12, 13).window(tumbling(10, 3)).process(Contents()))
    assert results == [("k", -7, 3, [2]), ("k", 3, 13, [3, 12]), ("k", 13, 23, [13])]


def test_negative_timestamps(env):
    results = collect(elements(env, -11, -10, -1, 0).window(tumbling(10)).process(Contents()))
    assert results == [("k", -20, -10, [-11]), ("k", -10, 0, [-10, -1]), ("k", 0, 10, [0])]


def test_elements_in_order_of_arrival(env):
    results = collect(elements(env, 7, 3, 5, 12, 1).window(tumbling(10)).process(Contents()))
    assert results == [("k", 0, 10, [7, 3, 5, 1]), ("k", 10, 20, [12])]


def test_sliding(env):
    results = collect(elements(env, 7, 12).window(sliding(10, 5)).process(Contents()))
    assert results == [("k", 0, 10, [7]), ("k", 5, 15, [7, 12]), ("k", 10, 20, [12])]


def test_sliding_with_offset(env):
    results = collect(elements(env, 7).window(sliding(10, 5, 1)).process(Contents()))
    assert results == [("k", 1, 11, [7]), ("k", 6, 16, [7])]


def test_a_slide_larger_than_the_size_leaves_elements_out(env):
    results = collect(elements(env, 1, 7, 11).window(sliding(5, 10)).process(Contents()))
    assert results == [("k", 0, 5, [1]), ("k", 10, 15, [11])]


def test_reduce(env):
    results = collect(elements(env, 1, 2, 11).window(tumbling(10)).reduce(add_times))
    assert results == [("k", 3), ("k", 11)]


@pytest.mark.parametrize("window_function", [Contents(), AppliedContents()])
def test_reduce_with_a_window_function(env, window_function):
    results = collect(
        elements(env, 1, 2, 11).window(tumbling(10)).reduce(add_times, window_function)
    )
    assert results == [("k", 0, 10, [3]), ("k", 10, 20, [11])]


def test_aggregate(env):
    results = collect(elements(env, 1, 2, 11).window(tumbling(10)).aggregate(Average()))
    assert results == [1.5, 11.0]


def test_aggregate_with_a_window_function(env):
    class WithStart(ProcessWindowFunction):
        def process(self, key, context, elements):
            return [(key, context.window().start, list(elements))]

    windows = elements(env, 1, 2, 11).window(tumbling(10))
    results = collect(windows.aggregate(Average(), WithStart()))
    assert results == [("k", 0, [1.5]), ("k", 10, [11.0])]


def test_aggregate_with_types(env):
    results = collect(
        elements(env, 1, 2)
        .window(tumbling(10))
        .aggregate(
            Average(),
            accumulator_type=Types.TUPLE([Types.LONG(), Types.LONG()]),
            output_type=Types.DOUBLE(),
        )
    )
    assert results == [1.5]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_keys_have_windows_of_their_own(env):
    values = [("a", 1), ("b", 2), ("a", 3), ("c", 15), ("b", 11)]
    windows = keyed_by_first(timed(env.from_collection(values))).window(tumbling(10))
    assert collect_sorted(windows.process(Contents())) == [
        ("a", 0, 10, [1, 3]),
        ("b", 0, 10, [2]),
        ("b", 10, 20, [11]),
        ("c", 10, 20, [15]),
    ]


def test_elements_are_a_list(env):
    class Kind(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield type(elements).__name__

    assert collect(elements(env, 1).window(tumbling(10)).process(Kind())) == ["list"]


def test_none_as_result_fails(env):
    class Silent(WindowFunction):
        def apply(self, key, window, inputs):
            return None

    with pytest.raises(Exception, match="'NoneType' object is not iterable"):
        collect(elements(env, 1).window(tumbling(10)).apply(Silent()))


def test_representation_of_windows(env):
    class Shows(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield repr(context.window()), context.window().max_timestamp()

    results = collect(elements(env, 1).window(tumbling(5000)).process(Shows()))
    assert results == [("TimeWindow(start=0, end=5000)", 4999)]


def test_results_have_the_last_timestamp_of_their_window(env):
    twice = (
        elements(env, 1, 2, 11)
        .window(tumbling(10))
        .reduce(add_times)
        .key_by(lambda v: v[0])
        .window(tumbling(20))
        .process(Contents())
    )
    assert collect(twice) == [("k", 0, 20, [3, 11])]


def test_declared_output_type(env):
    stream = elements(env, 1, 2).window(tumbling(10)).reduce(
        lambda a, b: (a[0], a[1] + b[1]), output_type=Types.TUPLE([Types.STRING(), Types.FLOAT()])
    )  # fmt: skip
    assert collect(stream) == [("k", 3.0)]


def test_a_record_without_timestamp_fails(env):
    stream = env.from_collection([("k", 1)]).key_by(lambda v: v[0])
    with pytest.raises(Exception, match=r"(?i)timestamp"):
        collect(stream.window(tumbling(10)).process(Contents()))


def test_windows_fire_between_elements(paced_env):
    from compat_tests.pacing import paced

    stream = keyed_by_first(paced(paced_env, [("k", 1), ("k", 12), ("k", 14), ("k", 30)]))
    fired = stream.window(tumbling(10)).reduce(add_times)
    passing = stream.map(lambda v: ("passed", v[1]))
    results = collect(fired.union(passing).map(lambda v: v))
    assert results.index(("k", 1)) < results.index(("passed", 30))
    assert [v for v in results if v[0] == "k"] == [("k", 1), ("k", 26), ("k", 30)]


@pytest.mark.parametrize("size", [0, -1])
def test_impossible_sizes(size):
    with pytest.raises(Exception, match=r"\S"):
        tumbling(size)
