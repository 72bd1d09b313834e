"""Keyed state in functions that few think of: which may have it, and whose key it is."""

from __future__ import annotations

from typing import Any

import pytest
from pyflink.common import Time, Types
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    CoFlatMapFunction,
    CoMapFunction,
    FilterFunction,
    KeyedCoProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult

from compat_tests.pacing import timed
from compat_tests.running import Journal, collect
from compat_tests.windowing import Average, add_times, keyed_by_first, tumbling

ELEMENTS = [("a", 1), ("b", 10), ("a", 2), ("b", 20), ("a", 3)]


def keyed(env: Any) -> Any:
    return env.from_collection(ELEMENTS).key_by(lambda v: v[0])


def counter(context: Any) -> Any:
    return context.get_state(ValueStateDescriptor("count", Types.LONG()))


def count(state: Any) -> int:
    state.update((state.value() or 0) + 1)
    return state.value()


# -- reduce ----------------------------------------------------------------------------------------


class CountingReduce(ReduceFunction):
    """Writes down how often it was called for a key."""

    def open(self, runtime_context):
        self.calls = counter(runtime_context)

    def reduce(self, value1, value2):
        return value1[0], (value1[1], value2[1], count(self.calls))


NESTED = [
    ("a", 1), ("b", 10), ("a", (1, 2, 1)), ("b", (10, 20, 1)), ("a", ((1, 2, 1), 3, 2)),
]  # fmt: skip


def test_reduce(env):
    assert collect(keyed(env).reduce(CountingReduce())) == NESTED


def test_reduce_in_batch(batch_env):
    results = collect(keyed(batch_env).reduce(CountingReduce()))
    assert sorted(results) == [("a", ((1, 2, 1), 3, 2)), ("b", (10, 20, 1))]


def test_reduce_with_a_state_that_is_asked_for_late(env):
    class Late(CountingReduce):
        def open(self, runtime_context):
            self.context = runtime_context

        def reduce(self, value1, value2):
            self.calls = counter(self.context)
            return super().reduce(value1, value2)

    assert collect(keyed(env).reduce(Late())) == NESTED


class SeesAll(ReduceFunction):
    """Keeps what it has seen in states of all other kinds."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))
        self.by_value = runtime_context.get_map_state(
            MapStateDescriptor("by value", Types.INT(), Types.INT())
        )
        self.sum = runtime_context.get_reducing_state(
            ReducingStateDescriptor("sum", lambda a, b: a + b, Types.INT())
        )
        self.average = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("average", Average(), Types.TUPLE([Types.INT()] * 2))
        )

    def reduce(self, value1, value2):
        added = value2[1]
        self.seen.add(added)
        self.by_value.put(added, len(list(self.seen.get())))
        self.sum.add(added)
        self.average.add(value2)
        kept = list(self.seen.get()), dict(self.by_value.items())
        return value1[0], (*kept, self.sum.get(), self.average.get())


def test_reduce_with_states_of_other_kinds(env):
    assert collect(keyed(env).reduce(SeesAll())) == [
        ("a", 1),
        ("b", 10),
        ("a", ([2], {2: 1}, 2, 2.0)),
        ("b", ([20], {20: 1}, 20, 20.0)),
        ("a", ([2, 3], {2: 1, 3: 2}, 5, 2.5)),
    ]


def test_reduce_with_a_state_that_expires(env):
    class Remembers(CountingReduce):
        def open(self, runtime_context):
            descriptor = ValueStateDescriptor("count", Types.LONG())
            config = StateTtlConfig.new_builder(Time.hours(1)).build()
            descriptor.enable_time_to_live(config)
            self.calls = runtime_context.get_state(descriptor)

    assert collect(keyed(env).reduce(Remembers())) == NESTED


def test_two_reduces_have_two_states(env):
    stream = keyed(env).reduce(CountingReduce()).key_by(lambda v: "all").reduce(CountingReduce())
    assert [value[1][2] for value in collect(stream)[1:]] == [1, 2, 3, 4]


# -- connected streams -----------------------------------------------------------------------------


class CoCount(CoMapFunction):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def map1(self, value):
        return value[0], count(self.count)

    map2 = map1


class CoCounts(CoFlatMapFunction):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def flat_map1(self, value):
        yield value[0], count(self.count)

    flat_map2 = flat_map1


class CoCounting(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def process_element1(self, value, ctx):
        yield value[0], count(self.count)

    process_element2 = process_element1


@pytest.mark.parametrize("build", [
    lambda s: s.map(CoCount()),
    lambda s: s.flat_map(CoCounts()),
    lambda s: s.process(CoCounting()),
], ids=["map", "flat_map", "process"])  # fmt: skip
def test_connected_streams_share_a_state(env, build):
    results = collect(build(keyed(env).connect(keyed(env))))
    assert sorted(results) == [("a", n) for n in range(1, 7)] + [("b", n) for n in range(1, 5)]


@pytest.mark.parametrize("build", [
    lambda s: s.map(CoCount()), lambda s: s.flat_map(CoCounts()),
], ids=["map", "flat_map"])  # fmt: skip
def test_connected_streams_without_key_have_none(env, build):
    first, second = env.from_collection(ELEMENTS), env.from_collection(ELEMENTS)
    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        collect(build(first.connect(second)))


# -- windows ---------------------------------------------------------------------------------------


def windows(env: Any) -> Any:
    return keyed_by_first(timed(env.from_collection(ELEMENTS))).window(tumbling(2))


class CountingWindow(ProcessWindowFunction):
    """Counts the windows of a key, with a state from open()."""

    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def process(self, key, context, elements):
        yield key, [v[1] for v in elements], count(self.count)


class CountingApply(WindowFunction):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def apply(self, key, window, inputs):
        yield key, [v[1] for v in inputs], count(self.count)


class CountingAverage(ProcessWindowFunction):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def process(self, key, context, elements):
        yield key, list(elements), count(self.count)


WINDOWS = [("a", [1], 1), ("a", [2, 3], 2), ("b", [10], 1), ("b", [20], 2)]


@pytest.mark.parametrize("build", [
    lambda w: w.process(CountingWindow()), lambda w: w.apply(CountingApply()),
], ids=["process", "apply"])  # fmt: skip
def test_window_functions(env, build):
    assert sorted(collect(build(windows(env)))) == WINDOWS


def test_a_window_function_behind_an_aggregate(env):
    results = collect(windows(env).aggregate(Average(), CountingAverage()))
    assert sorted(results) == [
        ("a", [1.0], 1), ("a", [2.5], 2), ("b", [10.0], 1), ("b", [20.0], 2),
    ]  # fmt: skip


class OpenedReduce(ReduceFunction):
    def __init__(self, journal):
        self.journal = journal

    def open(self, runtime_context):
        self.journal.write("open")

    def close(self):
        self.journal.write("close")

    def reduce(self, value1, value2):
        return add_times(value1, value2)


class OpenedAverage(Average):
    def __init__(self, journal):
        self.journal = journal

    def open(self, runtime_context):
        self.journal.write("open")

    def close(self):
        self.journal.write("close")


def test_functions_inside_windows_are_not_opened(env, tmp_path):
    """So they have no way to a state."""
    journal = Journal(tmp_path / "journal")
    assert len(collect(windows(env).reduce(OpenedReduce(journal)))) == 4
    assert len(collect(windows(env).aggregate(OpenedAverage(journal)))) == 4
    assert journal.lines() == []


def test_functions_inside_states_are_not_opened(env, tmp_path):
    journal = Journal(tmp_path / "journal")

    class Uses(MapFunction):
        def open(self, runtime_context):
            self.sum = runtime_context.get_reducing_state(
                ReducingStateDescriptor("sum", OpenedReduce(journal), Types.PICKLED_BYTE_ARRAY())
            )

        def map(self, value):
            self.sum.add(value)
            return self.sum.get()

    assert collect(keyed(env).map(Uses())) == [
        ("a", 1), ("b", 10), ("a", 3), ("b", 30), ("a", 6),
    ]  # fmt: skip
    assert journal.lines() == []


class EverySecond(Trigger):
    """Fires at each second element of a key, by a state of its own."""

    def on_element(self, element, timestamp, window, ctx):
        state = ctx.get_partitioned_state(ValueStateDescriptor("count", Types.LONG()))
        if count(state) % 2:
            return TriggerResult.CONTINUE
        return TriggerResult.FIRE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        pass


class NumberedWindows(GlobalWindows):
    """Asks for a state of the key while it assigns a window."""

    def assign_windows(self, element, timestamp, context):
        count(counter(context.get_runtime_context()))
        return super().assign_windows(element, timestamp, context)


@pytest.mark.parametrize("assigner", [GlobalWindows.create(), NumberedWindows()])
def test_triggers_and_assigners(env, assigner):
    results = collect(keyed(env).window(assigner).trigger(EverySecond()).reduce(add_times))
    assert results == [("a", 3), ("b", 30)]


# -- where there is no key -------------------------------------------------------------------------


class SelectorWithState(KeySelector):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def get_key(self, value):
        return value[0]


class PartitionerWithState(Partitioner):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def partition(self, key, num_partitions):
        return 0


class FilterWithState(FilterFunction):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    def filter(self, value):
        return True


class AsyncWithState(AsyncFunction):
    def open(self, runtime_context):
        self.count = counter(runtime_context)

    async def async_invoke(self, value):
        return [value]


def wait(stream: Any) -> Any:
    return AsyncDataStream.ordered_wait(stream, AsyncWithState(), Time.seconds(10), 10)


@pytest.mark.parametrize("build", [
    lambda s: s.key_by(SelectorWithState()).map(lambda v: v),
    lambda s: s.key_by(lambda v: v[0]).key_by(SelectorWithState()).map(lambda v: v),
    lambda s: s.filter(FilterWithState()),
    wait,
    lambda s: wait(s.key_by(lambda v: v[0])),
], ids=["key selector", "key selector on keys", "filter", "async", "async on keys"])  # fmt: skip
def test_no_key(env, build):
    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        collect(build(env.from_collection(ELEMENTS)))


def test_no_key_in_a_partitioner(env, run_printed):
    stream = env.from_collection(ELEMENTS)
    stream.partition_custom(PartitionerWithState(), lambda v: v[0]).map(str).print()
    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        env.execute()
