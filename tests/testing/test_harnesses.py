"""Harnesses: every kind of function, time, state, restarts, and what they refuse."""

from __future__ import annotations

import itertools
import threading

import pytest

from pyflink_on_spark.common import Configuration, Row, Time, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import OutputTag
from pyflink_on_spark.datastream.functions import (
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
)
from pyflink_on_spark.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflink_on_spark.datastream.window import (
    EventTimeSessionWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from pyflink_on_spark.testing import ManualClock, Record, StreamHarness, Watermark, harness_for

MAX = 2**63 - 1
LATE = OutputTag("late", Types.INT())


def first(value):
    return value[0]


class Count(KeyedProcessFunction):
    """Counts elements of a key; says so again some time later, in both kinds of time."""

    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        timers = ctx.timer_service()
        timers.register_event_time_timer(ctx.timestamp() + 100)
        timers.register_processing_time_timer(timers.current_processing_time() + 1_000)
        if count > 2:
            yield LATE, count
        yield value[0], count

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), ctx.time_domain().name, timestamp
        if ctx.time_domain().name == "PROCESSING_TIME":
            self.count.clear()


def test_keyed_process_function():
    with harness_for(Count(), first) as harness:
        harness.push(("a", 1), 10)
        harness.push(("b", 1), 20)
        assert harness.output() == [Record(("a", 1), 10), Record(("b", 1), 20)]
        assert harness.state_entries() == harness.state_entries("count") == 2
        assert harness.state_entries("other") == 0
        assert harness.event_time_timers() == [(110, "a"), (120, "b")]
        assert harness.processing_time_timers() == [(1_000, "a"), (1_000, "b")]
        harness.clear_output()
        harness.push_watermark(110)
        assert harness.output() == [Record(("a", "EVENT_TIME", 110), 110), Watermark(110)]
        harness.clear_output()
        harness.set_processing_time(1_000)
        assert harness.values() == []
        harness.advance_processing_time(1)
        assert sorted(harness.values()) == [
            ("a", "PROCESSING_TIME", 1_000),
            ("b", "PROCESSING_TIME", 1_000),
        ]
        assert harness.state_entries() == 0
        harness.clear_output()
        harness.end_input()
        assert harness.values() == [("b", "EVENT_TIME", 120)]
        assert harness.watermarks() == [MAX]


def test_side_output_needs_no_consumer():
    with harness_for(Count(), first) as harness:
        for timestamp in range(4):
            harness.push(("a", 1), timestamp)
        assert harness.side_output(LATE) == [3, 4]
        assert harness.side_records(LATE) == [Record(3, 2), Record(4, 3)]
        assert harness.side_output(OutputTag("another")) == []
        harness.clear_output()
        assert harness.side_output(LATE) == []


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_restart_with_another_parallelism(parallelism):
    keys = [f"key {number}" for number in range(10)]
    with harness_for(Count(), first, max_parallelism=4) as harness:
        for key in keys:
            harness.push((key, 1), 10)
        with harness.restart(parallelism=parallelism) as restarted:
            assert restarted.state_entries() == 10
            for key in keys:
                restarted.push((key, 1), 30)
            assert sorted(restarted.values()) == [(key, 2) for key in keys]
            restarted.clear_output()
            restarted.push_watermark(110)
            assert sorted(restarted.values()) == [(key, "EVENT_TIME", 110) for key in keys]
            assert restarted.watermarks() == [110]


def test_the_maximum_parallelism_cannot_change():
    with harness_for(Count(), first, max_parallelism=4) as harness:
        harness.push(("a", 1), 10)
        snapshot = harness.snapshot()
    with pytest.raises(ValueError, match="maximum parallelism cannot be changed from 4 to 8"):
        harness_for(Count(), first, max_parallelism=8, snapshot=snapshot)


def test_a_snapshot_does_not_change_any_more():
    with harness_for(Count(), first) as harness:
        harness.push(("a", 1), 10)
        snapshot = harness.snapshot()
        harness.push(("a", 1), 10)
    with harness_for(Count(), first, snapshot=snapshot) as harness:
        harness.push(("a", 1), 10)
        assert harness.values() == [("a", 2)]


class Double(MapFunction):
    def map(self, value):
        return value * 2


class Twice(FlatMapFunction):
    def flat_map(self, value):
        return [value, value]


class Even(FilterFunction):
    def filter(self, value):
        return value % 2 == 0


class Larger(ProcessFunction):
    def process_element(self, value, ctx):
        yield value + 1, ctx.timestamp()


class Sum(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class Plus(AsyncFunction):
    async def async_invoke(self, value):
        return [value + 1]


class First(MapFunction):
    """Lets only the first element of a key pass as what it is."""

    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def map(self, value):
        seen = self.seen.value()
        self.seen.update(True)
        return None if seen else value


@pytest.mark.parametrize(
    ("function", "key", "results"),
    [
        (Double(), None, [2, 4]),
        (Twice(), None, [1, 1, 2, 2]),
        (Even(), None, [2]),
        (Larger(), None, [(2, 5), (3, 5)]),
        (Sum(), lambda v: "all", [1, 3]),
        (Plus(), None, [2, 3]),
        (Double(), lambda v: v, [2, 4]),
        (Twice(), lambda v: v, [1, 1, 2, 2]),
        (Even(), lambda v: v, [2]),
        (First(), lambda v: "all", [1, None]),
    ],
)
def test_functions_of_one_input(function, key, results):
    with harness_for(function, key) as harness:
        harness.push(1, 5)
        harness.push(2, 5)
        assert harness.values() == results


class Either(CoMapFunction):
    def map1(self, value):
        return "first", value

    def map2(self, value):
        return "second", value


class Many(CoFlatMapFunction):
    def flat_map1(self, value):
        return [value] * 2

    def flat_map2(self, value):
        return [value] * 3


class Both(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield "first", value, ctx.timestamp()

    def process_element2(self, value, ctx):
        yield "second", value, ctx.timestamp()


class Join(KeyedCoProcessFunction):
    def open(self, context):
        self.last = context.get_state(ValueStateDescriptor("last", Types.STRING()))

    def process_element1(self, value, ctx):
        self.last.update(value[1])
        ctx.timer_service().register_event_time_timer(50)
        return []

    def process_element2(self, value, ctx):
        yield value[1], self.last.value()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key()


@pytest.mark.parametrize(
    ("function", "results"),
    [
        (Either(), [("first", 1), ("second", 2)]),
        (Many(), [1, 1, 2, 2, 2]),
        (Both(), [("first", 1, 7), ("second", 2, 8)]),
    ],
)
def test_functions_of_two_inputs(function, results):
    with harness_for(function) as harness:
        harness.push(1, 7)
        harness.push(2, 8, into=2)
        assert harness.values() == results


def test_keyed_co_process_function():
    key = {"second_key_selector": lambda v: v[0].lower()}
    with harness_for(Join(), first, key_type=Types.STRING(), **key) as harness:
        harness.push(("a", "left"))
        harness.push(("A", "right"), into=2)
        assert harness.values() == [("right", "left")]
        harness.push_watermark(50)
        assert harness.values()[1:] == ["a"]


def test_the_lower_watermark_counts():
    with harness_for(Both()) as harness:
        harness.push_watermark(50, into=1)
        assert harness.watermarks() == []
        harness.push_watermark(20, into=2)
        assert harness.watermarks() == [20]
        harness.end_input(into=2)
        assert harness.watermarks() == [20, 50]
        with pytest.raises(RuntimeError, match="input 2 has ended"):
            harness.push(1, into=2)


RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Rules(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.get_broadcast_state(RULES).get("limit")

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put("limit", value)
        return []


class KeyedRules(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.get_current_key(), ctx.get_broadcast_state(RULES).get("limit")

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put("limit", value)
        return []


@pytest.mark.parametrize("parallelism", [1, 3])
def test_broadcast_functions(parallelism):
    settings = {"broadcast_state": [RULES], "parallelism": parallelism}
    with harness_for(Rules(), **settings) as harness:
        harness.push(10, into=2)
        for value in "abc":
            harness.push(value)
        with harness.restart(parallelism=2) as restarted:
            restarted.push("d")
            assert restarted.values() == [("d", 10)]
    assert harness.values() == [("a", 10), ("b", 10), ("c", 10)]
    with harness_for(KeyedRules(), lambda v: v, **settings) as harness:
        harness.push(10, into=2)
        harness.push("a")
        assert harness.values() == [("a", 10)]


def tumbling(stream):
    windows = stream.key_by(first).window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
    summed = windows.side_output_late_data(LATE)
    return summed.reduce(lambda a, b: (a[0], a[1] + b[1]))


def test_windows():
    with StreamHarness(tumbling) as harness:
        harness.push(("a", 1), 10)
        harness.push(("a", 2), 99)
        harness.push(("a", 4), 100)
        assert harness.values() == []
        with harness.restart(parallelism=2) as restarted:
            assert restarted.state_entries() == 2
            restarted.push_watermark(99)
            assert restarted.output() == [Record(("a", 3), 99), Watermark(99)]
            assert restarted.state_entries() == 1


def test_late_data_goes_to_its_side_output():
    def define(stream):
        windows = stream.key_by(lambda v: v).window(
            EventTimeSessionWindows.with_gap(Time.seconds(1))
        )
        return windows.side_output_late_data(LATE).reduce(max)

    with StreamHarness(define) as harness:
        harness.push_watermark(5_000)
        harness.push(7, 10)
        assert harness.values() == []
        assert harness.side_output(LATE) == [7]


@pytest.mark.parametrize(
    "assigner",
    [
        TumblingEventTimeWindows.of(Time.seconds(1)),
        EventTimeSessionWindows.with_gap(Time.seconds(1)),
    ],
    ids=["tumbling", "session"],
)
def test_late_data_without_a_side_output_is_counted(assigner):
    with StreamHarness(lambda s: s.key_by(lambda v: v).window(assigner).reduce(max)) as harness:
        harness.push_watermark(5_000)
        assert harness.metrics() == {"numLateRecordsDropped": 0}
        harness.push(7, 10)
        harness.push(8, 20)
        harness.push(9, 6_000)
        assert harness.metrics() == {"numLateRecordsDropped": 2}


def test_windows_of_processing_time():
    def define(stream):
        windows = TumblingProcessingTimeWindows.of(Time.seconds(1))
        return stream.window_all(windows).reduce(lambda a, b: a + b)

    with StreamHarness(define, clock=ManualClock(10_500)) as harness:
        harness.push(1)
        harness.push(2)
        harness.set_processing_time(10_999)
        assert harness.values() == []
        harness.set_processing_time(11_000)
        assert harness.values() == [3]


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def test_a_definition_may_assign_timestamps():
    strategy = WatermarkStrategy.for_monotonous_timestamps()

    def define(stream):
        strategy_ = strategy.with_timestamp_assigner(SecondField())
        return stream.assign_timestamps_and_watermarks(strategy_)

    with StreamHarness(define) as harness:
        harness.push(("a", 10))
        assert harness.records() == [Record(("a", 10), 10)]


def test_types_have_their_effect():
    settings = {"input_types": [Types.FLOAT()], "output_type": Types.ROW([Types.FLOAT()])}

    class ToRow(MapFunction):
        def map(self, value):
            return Row(value)

    with harness_for(ToRow(), **settings) as harness:
        harness.push(0.1)
        (row,) = harness.values()
        assert row[0] != 0.1
        assert row[0] == pytest.approx(0.1)


def test_batch_mode():
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", "BATCH")
    with harness_for(Sum(), lambda v: v % 2, configuration=configuration) as harness:
        for value in range(6):
            harness.push(value)
        assert harness.values() == []
        harness.end_input()
        assert sorted(harness.values()) == [6, 9]


class Counted(MapFunction):
    def open(self, context):
        self.counter = context.get_metrics_group().counter("seen")

    def map(self, value):
        self.counter.inc()
        return value


def test_metrics():
    with harness_for(Counted(), parallelism=2) as harness:
        for value in range(3):
            harness.push(value)
            assert harness.metrics() == {"seen": value + 1}
    assert harness.metrics() == {"seen": 3}


class Careless(MapFunction):
    def open(self, context):
        self.items = []

    def map(self, value):
        self.items.append(value)
        return self.items


def test_boundaries_are_pickled():
    function, pushed = Careless(), [1]
    with harness_for(function) as harness:
        harness.push(pushed)
        pushed.append(2)
        harness.push(3)
        assert harness.values() == [[[1]], [[1], 3]]
    assert not hasattr(function, "items")


def test_what_cannot_be_pickled_cannot_be_pushed():
    with harness_for(Careless()) as harness, pytest.raises(TypeError, match="pickle"):
        harness.push(threading.Lock())


class Broken(MapFunction):
    closed = 0

    def map(self, value):
        try:
            return 1 // value
        except ZeroDivisionError as error:
            raise LookupError("no such number") from error

    def close(self):
        Broken.closed += 1


def test_errors_are_the_user_s_own():
    with pytest.raises(LookupError, match="no such number") as caught:  # noqa: SIM117
        with harness_for(Broken()) as harness:
            harness.push(0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "operator 'Map', added at" in caught.value.__notes__[0]
    assert "while it worked on 0" in caught.value.__notes__[0]
    assert Broken.closed == 1


@pytest.mark.parametrize("function", [Count(), Join(), KeyedRules(), Sum()])
def test_a_key_selector_may_be_missing(function):
    with pytest.raises(TypeError, match=r"runs on a keyed stream: give a key_selector"):
        harness_for(function)


@pytest.mark.parametrize("function", [Larger(), Rules()])
def test_a_key_selector_may_be_one_too_many(function):
    with pytest.raises(TypeError, match=r"ProcessFunction does not run on a keyed stream"):
        harness_for(function, first)


def test_other_things_have_no_harness():
    with pytest.raises(TypeError, match=r"no harness_for a function: .*StreamHarness\(lambda"):
        harness_for(first)
    with pytest.raises(TypeError, match="has to return a DataStream"):
        StreamHarness(lambda stream: None)


def test_it_has_to_be_open():
    harness = harness_for(Double())
    with pytest.raises(RuntimeError, match="not open"):
        harness.push(1)
    harness.open()
    harness.push(1)
    harness.close()
    harness.close()
    assert harness.values() == [2]


def test_a_process_that_stalls_at_any_moment_leaves_no_input_unread():
    with StreamHarness(lambda one, two: one.union(two), 2) as harness:
        hosts = harness._hosts
        # At each look a slice of time is over, as on a machine that gives the process no processor.
        hosts._now = hosts.group._now = lambda: float(next(looks))
        looks = itertools.count()
        for number in range(8):
            harness.push(number, into=1 + number % 4 // 2)
            assert harness.values() == list(range(number + 1))
