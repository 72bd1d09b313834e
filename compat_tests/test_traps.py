"""Semantics that engines get wrong, Flink among them in its early days; each has a test."""

from __future__ import annotations

import datetime

import pytest
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, TimeDomain
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

from compat_tests.pacing import PAUSE_SECONDS, SecondField, paced, timed
from compat_tests.running import collect, collect_sorted
from compat_tests.windowing import Times, keyed_by_first, ms, session, tumbling

LOWEST, HIGHEST = -(2**63), 2**63 - 1
ANYTHING = Types.PICKLED_BYTE_ARRAY()


class Later(KeyedProcessFunction):
    """Emits from a timer, 5 ms after each element."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1] + 5)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


class ShowsWatermark(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


# -- outputs of timers and the watermark that fired them -------------------------------------------


@pytest.mark.timed
def test_what_a_timer_emits_is_ahead_of_the_watermark_that_fired_it(env):
    stream = keyed_by_first(timed(env.from_collection([("a", 1), ("a", 2)]))).process(Later())
    assert collect(stream.rebalance().process(ShowsWatermark())) == [
        (("a", 6), 6, LOWEST), (("a", 7), 7, LOWEST),
    ]  # fmt: skip


@pytest.mark.parametrize("between", [lambda s: s, lambda s: s.map(lambda v: v)])
def test_functions_of_a_chain_see_the_event_time_of_its_head(paced_env, between):
    elements = [("a", 1), ("a", 20), ("a", 40)]
    stream = between(keyed_by_first(paced(paced_env, elements)).process(Later()))
    assert collect(stream.process(ShowsWatermark())) == [
        (("a", 6), 6, 19), (("a", 25), 25, 39), (("a", 45), 45, HIGHEST),
    ]  # fmt: skip


def test_functions_behind_a_window_see_the_event_time_that_fired_it(paced_env):
    elements = [("a", 1), ("a", 20), ("a", 40)]
    windows = keyed_by_first(paced(paced_env, elements)).window(tumbling(10)).process(Times())
    assert collect(windows.process(ShowsWatermark())) == [
        ([1], 9, 19), ([20], 29, 39), ([40], 49, HIGHEST),
    ]  # fmt: skip


def test_functions_of_a_chain_see_the_event_time_of_its_head_in_batch_mode(batch_env):
    stream = keyed_by_first(timed(batch_env.from_collection([("a", 1), ("a", 2)])))
    assert collect(stream.process(Later()).process(ShowsWatermark())) == [
        (("a", 6), 6, HIGHEST), (("a", 7), 7, HIGHEST),
    ]  # fmt: skip


def test_what_a_timer_emits_is_not_late_for_a_window(env):
    stream = keyed_by_first(timed(env.from_collection([("a", 1), ("a", 2)]))).process(Later())
    windowed = keyed_by_first(stream).window(tumbling(10))
    assert collect(windowed.process(Times())) == [[6, 7]]


def test_what_a_window_emits_is_not_late_for_the_next(env):
    elements = timed(env.from_collection([("a", 1), ("a", 2), ("a", 11)]))
    first = keyed_by_first(elements).window(tumbling(10)).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert collect(keyed_by_first(first).window(tumbling(20)).process(Times())) == [[3, 11]]


# -- times of timers -------------------------------------------------------------------------------


def test_a_processing_time_timer_fires_once_its_time_is_over(paced_env):
    class Soon(KeyedProcessFunction):
        def process_element(self, value, ctx):
            now = ctx.timer_service().current_processing_time()
            ctx.timer_service().register_processing_time_timer(now + 20)

        def on_timer(self, timestamp, ctx):
            yield ctx.timer_service().current_processing_time() > timestamp

    stream = keyed_by_first(paced(paced_env, [("a", at) for at in range(4)]))
    fired = collect(stream.process(Soon()))
    assert fired
    assert all(fired)


def test_both_kinds_of_timers_in_one_function(paced_env):
    class Both(KeyedProcessFunction):
        def process_element(self, value, ctx):
            if value[1] == 0:
                ctx.timer_service().register_event_time_timer(1)
                ctx.timer_service().register_processing_time_timer(1)

        def on_timer(self, timestamp, ctx):
            yield ctx.time_domain() == TimeDomain.EVENT_TIME, timestamp, ctx.timestamp()

    stream = keyed_by_first(paced(paced_env, [("a", 0), ("a", 1), ("a", 2), ("a", 3)]))
    assert collect_sorted(stream.process(Both())) == [(False, 1, 1), (True, 1, 1)]


@pytest.mark.one_attempt("a restart sets the watermark back")
def test_timers_at_and_below_the_watermark_fire_with_the_next_one(paced_env):
    class Past(KeyedProcessFunction):
        def process_element(self, value, ctx):
            watermark = ctx.timer_service().current_watermark()
            if value[1] == 20:
                ctx.timer_service().register_event_time_timer(watermark)
                ctx.timer_service().register_event_time_timer(watermark - 6)
            yield "element", value[1], watermark

        def on_timer(self, timestamp, ctx):
            yield "timer", timestamp, ctx.timer_service().current_watermark()

    stream = keyed_by_first(paced(paced_env, [("a", 10), ("a", 20), ("a", 30)]))
    assert collect(stream.process(Past())) == [
        ("element", 10, LOWEST), ("element", 20, 9),
        ("timer", 3, 19), ("timer", 9, 19), ("element", 30, 19),
    ]  # fmt: skip


def test_a_key_that_gets_no_more_elements_is_woken_all_the_same(paced_env):
    class Wakes(KeyedProcessFunction):
        def process_element(self, value, ctx):
            if value[0] == "silent":
                ctx.timer_service().register_event_time_timer(15)
            yield value[1]

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key()

    elements = [("silent", 1), ("b", 10), ("b", 20), ("b", 30)]
    results = collect(keyed_by_first(paced(paced_env, elements)).process(Wakes()))
    assert results == [1, 10, 20, "silent", 30]


# -- merging sessions ------------------------------------------------------------------------------


def test_merged_sessions_are_not_cleared_at_the_end_of_the_first(paced_env):
    elements = [("a", 0), ("a", 15), ("a", 8), ("a", 33), ("a", 20), ("a", 70)]
    stream = keyed_by_first(paced(paced_env, elements, bound_ms=20)).window(session(10))
    # Which of the merged windows comes first is up to a hash table in PyFlink.
    assert [sorted(times) for times in collect(stream.process(Times()))] == [
        [0, 8, 15, 20], [33], [70],
    ]  # fmt: skip


def test_merged_sessions_live_as_long_as_their_lateness(paced_env):
    elements = [("a", 0), ("a", 8), ("a", 30), ("a", 12), ("a", 60), ("a", 1)]
    stream = keyed_by_first(paced(paced_env, elements)).window(session(10)).allowed_lateness(20)
    assert collect(stream.process(Times())) == [[0, 8], [0, 8, 12], [30], [60]]


# -- state -----------------------------------------------------------------------------------------


class Keeps(KeyedProcessFunction):
    """Puts a value into each kind of state, and shows it with the next element."""

    def __init__(self, value):
        self.kept = value

    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", ANYTHING))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", ANYTHING))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", ANYTHING, ANYTHING))

    def process_element(self, value, ctx):
        if value[1] == 1:
            self.value.update(self.kept)
            self.list.add(self.kept)
            self.map.put("x", self.kept)
        else:
            yield self.value.value(), list(self.list), self.map.get("x")


@pytest.mark.parametrize("value", [
    [], (), {}, "", 0, False, float("inf"), b"", [None],
    datetime.datetime.fromisoformat("2024-02-29T01:02:03.000004"), datetime.date(1, 1, 1),
    datetime.datetime(2024, 3, 31, 2, 30, tzinfo=datetime.UTC),
], ids=repr)  # fmt: skip
def test_any_value_comes_back_from_state(env, value):
    elements = env.from_collection([("a", 1), ("b", 3), ("a", 2)])
    results = collect(keyed_by_first(elements).process(Keeps(value)))
    assert results == [(None, [], None), (value, [value], value)]
    assert [type(part) for part in results[1]] == [type(value), list, type(value)]


@pytest.mark.whole("has thousands of elements, and each checkpoint takes two")
def test_state_is_that_of_the_key_also_after_other_keys(env):
    class Counts(KeyedProcessFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

        def process_element(self, value, ctx):
            self.count.update((self.count.value() or 0) + 1)
            yield value[0], self.count.value()

    elements = [(key, 0) for _ in range(3) for key in range(1500)]
    results = collect(keyed_by_first(env.from_collection(elements)).process(Counts()))
    assert results == [(key, count) for count in (1, 2, 3) for key in range(1500)]


def test_a_long_time_to_live(env):
    class Lives(KeyedProcessFunction):
        def open(self, runtime_context):
            descriptor = ValueStateDescriptor("count", Types.INT())
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(365)).build())
            self.count = runtime_context.get_state(descriptor)

        def process_element(self, value, ctx):
            before = self.count.value()
            self.count.update(value[1])
            yield (before,)

    elements = env.from_collection([("a", 1), ("a", 2)])
    assert collect(keyed_by_first(elements).process(Lives())) == [(None,), (1,)]


# -- watermarks ------------------------------------------------------------------------------------


def test_branches_have_watermarks_of_their_own(env):
    class Far(SecondField):
        def extract_timestamp(self, value, record_timestamp):
            return value[1] * 1_000_000

    source = env.from_collection([("a", 1), ("a", 2), ("a", 13)])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Far())
    far = source.assign_timestamps_and_watermarks(strategy).filter(lambda v: False)
    near = timed(source).union(far)
    windows = keyed_by_first(near).window(tumbling(10))
    assert collect(windows.process(Times())) == [[1, 2], [13]]


@pytest.mark.parametrize("change", [
    lambda strategy: strategy.with_idleness(Duration.of_seconds(5)),
    lambda strategy: strategy.with_watermark_alignment("group", Duration.of_seconds(5)),
    lambda strategy: strategy.with_watermark_alignment(
        "group", Duration.of_seconds(5), Duration.of_millis(100)
    ),
], ids=["idleness", "alignment", "alignment with interval"])  # fmt: skip
def test_strategies_that_wait_for_others(env, change):
    strategy = change(WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)))
    strategy = strategy.with_timestamp_assigner(SecondField())
    stream = env.from_collection([("a", 1), ("a", 12)]).assign_timestamps_and_watermarks(strategy)
    assert collect(keyed_by_first(stream).window(tumbling(10)).process(Times())) == [[1], [12]]


@pytest.mark.parametrize("change", [
    lambda strategy: strategy.with_idleness(Duration.of_seconds(5)),
    lambda strategy: strategy.with_watermark_alignment("group", Duration.of_seconds(5)),
], ids=["idleness", "alignment"])  # fmt: skip
def test_the_assigner_is_lost_where_a_strategy_is_changed_after_it(env, change):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
    stream = env.from_collection([("a", 5)]).assign_timestamps_and_watermarks(change(strategy))
    assert collect(stream.process(ShowsWatermark())) == [(("a", 5), LOWEST, LOWEST)]


def test_an_input_without_elements_holds_nothing_back_once_it_ended(env):
    empty = timed(env.from_collection([("x", 1)])).filter(lambda v: False)
    stream = timed(env.from_collection([("a", 1), ("a", 12)])).union(empty)
    windows = keyed_by_first(stream).window(tumbling(10))
    assert collect(windows.process(Times())) == [[1], [12]]


@pytest.mark.one_attempt("a restart sets the watermark back")
def test_the_watermark_never_goes_back(paced_env):
    elements = [("a", 30), ("a", 10), ("a", 20), ("a", 40)]
    stream = paced(paced_env, elements).process(ShowsWatermark())
    assert [watermark for _, _, watermark in collect(stream)] == [LOWEST, 29, 29, 29]


def test_processing_time_is_the_clock_of_the_machine(env):
    import time

    class Now(ProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.timer_service().current_processing_time()

    before = int(time.time() * 1000)
    (now,) = collect(env.from_collection([1]).process(Now()))
    assert before <= now <= time.time() * 1000 + 1


def test_processing_time_windows_fire_by_the_clock(paced_env):
    from pyflink.datastream.window import TumblingProcessingTimeWindows

    windows = TumblingProcessingTimeWindows.of(ms(int(PAUSE_SECONDS * 1000)))
    elements = [("a", at) for at in range(6)]
    stream = keyed_by_first(paced(paced_env, elements)).window(windows)
    results = [at for times in collect(stream.process(Times())) for at in times]
    assert results == list(range(len(results)))
    assert len(results) >= 3
