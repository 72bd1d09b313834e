"""Process functions, keyed functions, connected streams."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.connected import (
    CoFlatMapOperator,
    CoMapOperator,
    CoProcessOperator,
)
from pyflink_on_spark._runtime.operators.process import KeyedProcessOperator, ProcessOperator
from pyflink_on_spark._runtime.operators.stateless import (
    KeyedFilterOperator,
    KeyedFlatMapOperator,
    KeyedMapOperator,
)
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import Harness, Tag, keyed
from tests.runtime.state.descriptors import Descriptor

DOMAINS = ("EVENT", "PROCESSING")


class Base:
    """Makes a function object of keyword arguments, so that a test shows what it does."""

    def __init__(self, **methods):
        for name, method in methods.items():
            setattr(self, name, method)


def process(**methods):
    return Harness(ProcessOperator(UserFunction.of(Base(**methods))))


def keyed_process(**methods):
    return Harness(KeyedProcessOperator(UserFunction.of(Base(**methods)), DOMAINS))


@pytest.mark.parametrize(
    "results",
    [lambda v: [v, -v], lambda v: (r for r in (v, -v)), lambda v: {v: 0, -v: 0}, lambda v: (v, -v)],
)
def test_results_are_iterated_over(results):
    assert process(process_element=lambda v, ctx: results(v)).feed(1, 2) == [1, -1, 2, -2]


@pytest.mark.parametrize("nothing", [None, [], 0, False])
def test_nothing(nothing):
    assert process(process_element=lambda v, ctx: nothing).feed(1) == []


def test_result_that_cannot_be_iterated_over():
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        process(process_element=lambda v, ctx: 5).feed(1)


def test_context():
    def look(value, ctx):
        yield ctx.timestamp(), ctx.timer_service().current_watermark()

    harness = process(process_element=look)
    assert harness.feed(1) == [(MIN_TIMESTAMP, MIN_TIMESTAMP)]
    assert harness.feed(1, 2, at=[5, 6]) == [(5, MIN_TIMESTAMP), (6, MIN_TIMESTAMP)]
    assert harness.watermark(7) == []
    assert harness.feed(1, at=[8]) == [(8, 7)]


def test_side_output():
    harness = process(process_element=lambda v, ctx: [(Tag("late"), v), (v, v), ("late", v)])
    assert harness.feed(1, at=[5]) == [(1, 1), ("late", 1)]
    assert harness.side == [("late", 1, 5)]


def test_timers_want_a_key():
    harness = process(
        process_element=lambda v, ctx: ctx.timer_service().register_event_time_timer(1)
    )
    with pytest.raises(Exception, match="Register timers is only supported on a keyed stream"):
        harness.feed(1)


def test_open_and_close():
    trace = []

    class Traced:
        def open(self, runtime_context):
            self.name = runtime_context.get_task_name()

        def process_element(self, value, ctx):
            yield self.name

        def close(self):
            trace.append("closed")
            raise ValueError("closed")

    harness = Harness(ProcessOperator(UserFunction.of(Traced())))
    assert harness.feed(1) == ["task"]
    harness.operator.close()


def test_functions_without_open_and_close():
    harness = process(process_element=lambda v, ctx: [v])
    harness.operator.close()


def test_close_without_open():
    KeyedProcessOperator(UserFunction.of(Base()), DOMAINS).close()


class Counting:
    def open(self, runtime_context):
        self.count = runtime_context.get_state(Descriptor("value", "count"))

    def _next(self):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return count

    def map(self, value):
        return value, self._next()

    def flat_map(self, value):
        return [value] * self._next()

    def filter(self, value):
        return self._next() > 1

    def map1(self, value):
        return self.map(value)

    map2 = map1
    flat_map1 = flat_map2 = flat_map


PAIRS = keyed(("a", "x"), ("b", "y"), ("a", "z"))


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (KeyedMapOperator, [("x", 1), ("y", 1), ("z", 2)]),
        (KeyedFlatMapOperator, ["x", "y", "z", "z"]),
        (KeyedFilterOperator, ["z"]),
    ],
)
def test_keyed_functions_have_state(operator, expected):
    assert Harness(operator(UserFunction.of(Counting()))).feed(*PAIRS) == expected


def test_keyed_flat_map_of_none():
    operator = KeyedFlatMapOperator(UserFunction.of(Base(flat_map=lambda v: None)))
    with pytest.raises(TypeError, match="'NoneType' object is not iterable"):
        Harness(operator).feed(*PAIRS)


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (CoMapOperator, [("x", 2), ("y", 2), ("z", 3)]),
        (CoFlatMapOperator, ["x", "x", "y", "y", "z", "z", "z"]),
    ],
)
def test_connected_inputs_share_state(operator, expected):
    harness = Harness(operator(UserFunction.of(Counting()), True))
    harness.feed(*keyed(("a", 0), ("b", 0)), port=1)
    assert harness.feed(*PAIRS) == expected


def test_keys_are_compared_as_the_engine_does():
    harness = Harness(KeyedMapOperator(UserFunction.of(Counting())))
    assert [n for _, n in harness.feed(*keyed((1, 0), (True, 0), (1.0, 0), ([1], 0), (1, 0)))] == [
        1,
        1,
        1,
        1,
        2,
    ]


def test_co_map_and_co_flat_map_without_key():
    function = UserFunction.of(
        Base(
            map1=lambda v: v or None,
            map2=lambda v: -v,
            flat_map1=lambda v: None,
            flat_map2=lambda v: [v, v],
        )
    )
    harness = Harness(CoMapOperator(function, False))
    assert harness.feed(0, 1) == [1]
    assert harness.feed(1, port=1) == [-1]
    harness = Harness(CoFlatMapOperator(function, False))
    assert harness.feed(1) == []
    assert harness.feed(1, port=1) == [1, 1]


def test_co_process_without_key():
    def look(value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()

    operator = CoProcessOperator(
        UserFunction.of(Base(process_element1=look, process_element2=lambda v, ctx: None)),
        False,
        time_domains=DOMAINS,
    )
    harness = Harness(operator)
    assert harness.watermark(3) == harness.time(100) == []
    assert harness.feed("v", at=[1]) == [("v", 1, 3)]
    assert harness.feed("v", port=1) == []


def test_keyed_co_process():
    operator = CoProcessOperator(
        UserFunction.of(
            Base(
                process_element1=lambda v, ctx: ctx.timer_service().register_event_time_timer(v),
                process_element2=lambda v, ctx: [(ctx.get_current_key(), v)],
                on_timer=lambda t, ctx: [(t, ctx.get_current_key(), ctx.time_domain())],
            )
        ),
        True,
        time_domains=DOMAINS,
    )
    harness = Harness(operator)
    assert harness.feed(*keyed(((1, "k"), 10))) == []
    assert harness.feed(*keyed((True, "v")), port=1) == [(True, "v")]
    assert harness.watermark(10) == [(10, (1, "k"), "EVENT")]


def register(*times):
    def process_element(value, ctx):
        for time in times:
            ctx.timer_service().register_event_time_timer(time)

    return process_element


def test_timers_fire_in_order_across_keys():
    harness = keyed_process(
        process_element=lambda v, ctx: ctx.timer_service().register_event_time_timer(v),
        on_timer=lambda t, ctx: [(t, ctx.timestamp(), ctx.get_current_key(), ctx.time_domain())],
    )
    harness.feed(*keyed(("a", 20), ("b", 10), ("a", 5), ("a", 20), ("a", 30)))
    assert harness.watermark(4) == []
    assert harness.watermark(20) == [
        (5, 5, "a", "EVENT"),
        (10, 10, "b", "EVENT"),
        (20, 20, "a", "EVENT"),
    ]
    assert harness.timestamps == [5, 10, 20]
    assert harness.end() == [(30, 30, "a", "EVENT")]


def test_all_due_timers_are_handed_over_together():
    def on_timer(time, ctx):
        yield time
        if time == 10:
            ctx.timer_service().register_event_time_timer(15)
            ctx.timer_service().delete_event_time_timer(30)

    harness = keyed_process(process_element=register(10, 20, 30), on_timer=on_timer)
    harness.feed(*keyed(("a", 0)))
    assert harness.watermark(30) == [10, 20, 30, 15]


def test_timer_in_the_past_fires_at_the_next_watermark():
    harness = keyed_process(process_element=register(5), on_timer=lambda t, ctx: [t])
    harness.watermark(10)
    assert harness.feed(*keyed(("a", 0))) == []
    assert harness.watermark(11) == [5]


def test_deleted_timer():
    def process_element(value, ctx):
        service = ctx.timer_service()
        service.register_event_time_timer(5)
        service.delete_event_time_timer(5)
        service.register_processing_time_timer(5)
        service.delete_processing_time_timer(5)

    harness = keyed_process(process_element=process_element, on_timer=lambda t, ctx: [t])
    harness.feed(*keyed(("a", 0)))
    assert harness.watermark(10) == harness.time(10) == []


def test_time_in_on_timer():
    def on_timer(time, ctx):
        yield ctx.timer_service().current_watermark()
        yield ctx.timestamp()
        yield ctx.timer_service().current_processing_time()

    harness = keyed_process(process_element=register(5), on_timer=on_timer)
    harness.feed(*keyed(("a", 0)))
    harness.clock.time = 77
    assert harness.watermark(9) == [9, 5, 77]
    assert harness.timestamps == [5, 5, 5]


def test_processing_time_timers():
    harness = keyed_process(
        process_element=lambda v, ctx: ctx.timer_service().register_processing_time_timer(v),
        on_timer=lambda t, ctx: [(t, ctx.get_current_key(), ctx.time_domain())],
    )
    harness.feed(*keyed(("b", 20), ("a", 10)))
    assert harness.time(10) == []
    assert harness.time(11) == [(10, "a", "PROCESSING")]
    assert harness.timestamps == [10]
    assert harness.end() == []
    assert harness.time(21) == [(20, "b", "PROCESSING")]


def test_on_timer_has_the_state_of_its_key():
    class Summing(Counting):
        def process_element(self, value, ctx):
            self._next()
            ctx.timer_service().register_event_time_timer(MAX_WATERMARK)

        def on_timer(self, time, ctx):
            yield ctx.get_current_key(), self.count.value()
            yield Tag("side"), time

    harness = Harness(KeyedProcessOperator(UserFunction.of(Summing()), DOMAINS))
    harness.feed(*PAIRS)
    assert harness.end() == [("a", 2), ("b", 1)]
    assert harness.side == [("side", MAX_WATERMARK, MAX_WATERMARK)] * 2


def test_on_timer_must_give_something_to_iterate_over():
    harness = keyed_process(process_element=register(5), on_timer=lambda t, ctx: None)
    harness.feed(*keyed(("a", 0)))
    with pytest.raises(TypeError, match="'NoneType' object is not iterable"):
        harness.watermark(5)


def test_elements_go_through_one_by_one():
    harness = keyed_process(process_element=lambda v, ctx: [v])
    drawn = []

    def source():
        for pair in keyed(("a", 1), ("b", 2)):
            drawn.append(pair)
            yield pair

    results = harness.operator.process(source())
    assert [(value, len(drawn)) for value in results] == [(1, 1), (2, 2)]
