"""Event-time and processing-time timers of a KeyedProcessFunction."""

from __future__ import annotations

import time

import pytest
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, TimeDomain
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

from compat_tests.pacing import paced, timed
from compat_tests.running import collect, collect_sorted

HIGHEST = 2**63 - 1
LOWEST = -(2**63)


class Timers(KeyedProcessFunction):
    """Calls `script(timer service, value)` per element; emits what its timers say."""

    def __init__(self, script):
        self.script = script

    def process_element(self, value, ctx):
        self.script(ctx.timer_service(), value)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp


def fired(stream, script):
    return collect(stream.key_by(lambda v: v[0]).process(Timers(script)))


@pytest.fixture
def element(env):
    return timed(env.from_collection([("k", 1)]))


def test_in_order_of_time_across_keys(env):
    stream = timed(env.from_collection([("a", 30), ("b", 10), ("a", 20), ("c", 40)]))
    results = fired(stream, lambda timers, v: timers.register_event_time_timer(v[1] + 5))
    assert results == [("b", 15), ("a", 25), ("a", 35), ("c", 45)]


def test_the_same_time_fires_once_per_key(env):
    stream = timed(env.from_collection([("a", 1), ("a", 2), ("b", 3), ("a", 4)]))
    results = fired(stream, lambda timers, v: timers.register_event_time_timer(100))
    assert sorted(results) == [("a", 100), ("b", 100)]


def test_delete(element):
    def script(timers, value):
        for at in (10, 20, 30):
            timers.register_event_time_timer(at)
        timers.delete_event_time_timer(20)
        timers.delete_event_time_timer(99)

    assert fired(element, script) == [("k", 10), ("k", 30)]


def test_delete_and_register_again(element):
    def script(timers, value):
        timers.register_event_time_timer(10)
        timers.delete_event_time_timer(10)
        timers.register_event_time_timer(10)
        timers.delete_processing_time_timer(10)

    assert fired(element, script) == [("k", 10)]


def test_deleting_is_per_key(env):
    def script(timers, value):
        if value[0] == "a":
            timers.register_event_time_timer(10)
        else:
            timers.delete_event_time_timer(10)

    assert fired(timed(env.from_collection([("a", 1), ("b", 2)])), script) == [("a", 10)]


def test_a_time_in_the_past_fires_too(element):
    results = fired(element, lambda timers, v: timers.register_event_time_timer(-50))
    assert results == [("k", -50)]


@pytest.mark.timed
def test_all_elements_come_before_the_timers_of_a_small_input(env):
    class Logs(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1])
            yield "element", value[1], ctx.timestamp(), ctx.timer_service().current_watermark()

        def on_timer(self, timestamp, ctx):
            yield "timer", timestamp, ctx.timestamp(), ctx.timer_service().current_watermark()

    stream = timed(env.from_collection([("k", 10), ("k", 5)])).key_by(lambda v: v[0])
    assert collect(stream.process(Logs())) == [
        ("element", 10, 10, LOWEST),
        ("element", 5, 5, LOWEST),
        ("timer", 5, 5, HIGHEST),
        ("timer", 10, 10, HIGHEST),
    ]


class Chain(KeyedProcessFunction):
    def process_element(self, value, ctx):
        for at in (10, 20, 30):
            ctx.timer_service().register_event_time_timer(at)

    def on_timer(self, timestamp, ctx):
        if timestamp == 10:
            ctx.timer_service().register_event_time_timer(15)
            ctx.timer_service().delete_event_time_timer(30)
        yield timestamp


def test_one_watermark_hands_its_timers_over_together(element):
    assert collect(element.key_by(lambda v: v[0]).process(Chain())) == [10, 20, 30, 15]


def test_a_timer_that_registers_the_next_one(element):
    class Ticks(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(10)

        def on_timer(self, timestamp, ctx):
            if timestamp < 50:
                ctx.timer_service().register_event_time_timer(timestamp + 10)
            yield timestamp

    assert collect(element.key_by(lambda v: v[0]).process(Ticks())) == [10, 20, 30, 40, 50]


def test_timers_use_the_state_of_their_key(env):
    class LastOfKey(KeyedProcessFunction):
        def open(self, runtime_context):
            self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))
            self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.LONG()))

        def process_element(self, value, ctx):
            self.last.update(value[1])
            self.all.add(value[1])
            ctx.timer_service().register_event_time_timer(1000)

        def on_timer(self, timestamp, ctx):
            yield ctx.get_current_key(), self.last.value(), list(self.all)
            self.last.clear()

    stream = timed(env.from_collection([("a", 1), ("b", 2), ("a", 3)]))
    results = collect_sorted(stream.key_by(lambda v: v[0]).process(LastOfKey()))
    assert results == [("a", 3, [1, 3]), ("b", 2, [2])]


def test_time_domain(element):
    class Domain(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(5)
            yield ctx.timer_service().current_processing_time() > 0

        def on_timer(self, timestamp, ctx):
            yield ctx.time_domain() == TimeDomain.EVENT_TIME

    assert collect(element.key_by(lambda v: v[0]).process(Domain())) == [True, True]


def test_outputs_of_a_timer_have_its_time(element):
    class Second(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value, ctx.timestamp()

    stream = element.key_by(lambda v: v[0]).process(
        Timers(lambda timers, v: timers.register_event_time_timer(77))
    )
    assert collect(stream.key_by(lambda v: v[0]).process(Second())) == [(("k", 77), 77)]


def test_timers_between_elements(paced_env):
    class Logs(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1] + 5)
            yield value

        def on_timer(self, timestamp, ctx):
            yield "timer", timestamp

    stream = paced(paced_env, [("k", 10), ("k", 20), ("k", 30)]).key_by(lambda v: "k")
    assert collect(stream.process(Logs())) == [
        ("k", 10), ("k", 20), ("timer", 15), ("k", 30), ("timer", 25), ("timer", 35),
    ]  # fmt: skip


def test_on_timer_without_results_must_still_be_iterable(element):
    class Silent(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(5)

        def on_timer(self, timestamp, ctx):
            return None

    with pytest.raises(Exception, match="'NoneType' object is not iterable"):
        collect(element.key_by(lambda v: v[0]).process(Silent()))


class ProcessingTime(KeyedProcessFunction):
    def __init__(self, delay_ms):
        self.delay_ms = delay_ms

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        if value[1] == 0:
            self.at = timers.current_processing_time() + self.delay_ms
            timers.register_processing_time_timer(self.at)
        yield value

    def on_timer(self, timestamp, ctx):
        domain_is_right = ctx.time_domain() == TimeDomain.PROCESSING_TIME
        yield "timer", timestamp == self.at and domain_is_right


@pytest.mark.one_attempt("keeps an attribute of the function")
def test_processing_time_timer_fires_while_elements_come(paced_env):
    def slow(value):
        time.sleep(0.4)
        return value

    stream = paced_env.from_collection([("k", 0), ("k", 1), ("k", 2)]).map(slow).rebalance()
    results = collect(stream.key_by(lambda v: v[0]).process(ProcessingTime(100)))
    assert results == [("k", 0), ("timer", True), ("k", 1), ("k", 2)]


def test_pending_processing_time_timers_are_dropped_at_the_end(env):
    stream = env.from_collection([("k", 0)]).key_by(lambda v: v[0])
    assert collect(stream.process(ProcessingTime(60_000))) == [("k", 0)]
