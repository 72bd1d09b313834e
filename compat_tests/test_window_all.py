"""window_all: windows over all elements, in one subtask."""

from __future__ import annotations

import pytest
from pyflink.common import Types
from pyflink.datastream import ProcessFunction
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.state import ValueStateDescriptor

from compat_tests.pacing import timed
from compat_tests.running import collect
from compat_tests.windowing import Average, add_times, session, sliding, tumbling

VALUES = [("a", 1), ("b", 2), ("a", 11), ("c", 8)]


class Applied(AllWindowFunction):
    def apply(self, window, inputs):
        yield window.start, sorted(v[1] for v in inputs)


class Processed(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, sorted(v[1] for v in elements)


@pytest.fixture
def stream(env):
    return timed(env.from_collection(VALUES))


@pytest.mark.parametrize("evaluate", [
    lambda windows: windows.apply(Applied()),
    lambda windows: windows.process(Processed()),
], ids=["apply", "process"])  # fmt: skip
def test_tumbling(stream, evaluate):
    results = collect(evaluate(stream.window_all(tumbling(10))))
    assert results == [(0, [1, 2, 8]), (10, [11])]


def test_sliding_and_session(stream):
    assert collect(stream.window_all(sliding(10, 5)).process(Processed())) == [
        (-5, [1, 2]), (0, [1, 2, 8]), (5, [8, 11]), (10, [11]),
    ]  # fmt: skip
    assert collect(stream.window_all(session(4)).process(Processed())) == [
        (1, [1, 2]),
        (8, [8, 11]),
    ]


def test_reduce_and_aggregate(stream):
    windows = stream.window_all(tumbling(10))
    assert collect(windows.reduce(add_times)) == [("a", 11), ("a", 11)]
    assert collect(windows.aggregate(Average())) == [11 / 3, 11.0]
    assert collect(windows.aggregate(Average(), Averages())) == [(0, [11 / 3]), (10, [11.0])]


class Averages(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, list(elements)


@pytest.mark.parametrize("parallelism", [2])
def test_all_elements_meet(stream):
    results = collect(stream.rebalance().window_all(tumbling(10)).process(Processed()))
    assert results == [(0, [1, 2, 8]), (10, [11])]


def test_global_state(stream):
    class Numbered(ProcessAllWindowFunction):
        def process(self, context, elements):
            descriptor = ValueStateDescriptor("n", Types.INT())
            state = context.global_state().get_state(descriptor)
            state.update((state.value() or 0) + 1)
            yield state.value(), len(elements)

    assert collect(stream.window_all(tumbling(10)).process(Numbered())) == [(1, 3), (2, 1)]


def test_results_carry_the_window_s_time(stream):
    class WithTime(ProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.timestamp()

    times = stream.window_all(tumbling(10)).process(Processed()).process(WithTime())
    assert collect(times) == [9, 19]
