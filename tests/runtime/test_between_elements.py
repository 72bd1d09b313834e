"""Events between two elements of a bundle: timers by the clock, and the timestamps they see."""

from __future__ import annotations

import enum

import pytest

from pyflink_on_spark._runtime.elements.bundle import Cursor, timed
from pyflink_on_spark._runtime.operators.process import KeyedProcessOperator
from pyflink_on_spark._runtime.operators.stateless import ConvertOperator
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._runtime.windows.general_windows import WindowOperator
from pyflink_on_spark.common import Time, Types, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import KeyedProcessFunction, ProcessFunction
from pyflink_on_spark.datastream.window import TumblingProcessingTimeWindows
from tests.runtime.harness import Harness, keyed
from tests.runtime.rounds import CutSource, job_of, results

LOWEST = -(2**63)


class Domain(enum.Enum):
    EVENT = 0
    CLOCK = 1


class Alarm(KeyedProcessFunction):
    """Wants to be called 10 ms after each element."""

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        timers.register_processing_time_timer(timers.current_processing_time() + 10)
        yield ctx.get_current_key(), value, ctx.timestamp()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), ctx.time_domain(), timestamp


def alarms(batch, *steps):
    harness = Harness(KeyedProcessOperator(UserFunction.of(Alarm()), tuple(Domain)), batch)

    def elements():
        for now, key in steps:
            harness.clock.time = now
            yield keyed((key, now))[0]

    harness.cursor.timestamp = None
    source = timed(elements(), [100 + i for i in range(len(steps))], harness.cursor)
    return list(harness.operator.process(source))


def test_a_timer_that_the_clock_has_passed_fires_before_the_next_element():
    assert alarms(False, (0, "a"), (10, "b"), (11, "c"), (12, "c")) == [
        ("a", 0, 100), ("b", 10, 101), ("a", Domain.CLOCK, 10), ("c", 11, 102), ("c", 12, 103),
    ]  # fmt: skip


def test_in_batch_no_timer_fires_between_elements():
    assert alarms(True, (0, "a"), (50, "a")) == [("a", 0, 100), ("a", 50, 101)]


def test_a_window_of_processing_time_fires_before_the_next_element():
    def build(stream):
        windows = TumblingProcessingTimeWindows.of(Time.milliseconds(10))
        return stream.key_by(lambda v: "k").window(windows).reduce(lambda a, b: a + b)

    harness = Harness(
        next(
            plan.operator
            for stage in job_of(build, CutSource("abc")).stages
            for vertex in stage.vertices
            for chain in vertex.chains
            for plan in chain.operators
            if isinstance(plan.operator, WindowOperator)
        )
    )

    def elements():
        for now, value in ((3, "a"), (5, "b"), (10, "c"), (12, "d")):
            harness.clock.time = now
            yield "k", value

    assert list(harness.operator.process(elements())) == ["ab"]


class Shows(TimestampAssigner):
    def __init__(self, offset):
        self.offset = offset

    def extract_timestamp(self, value, record_timestamp):
        value.append(record_timestamp)
        return self.offset + len(value)


def assigned(stream, offset):
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Shows(offset))
    return stream.assign_timestamps_and_watermarks(strategy)


def test_an_assigner_sees_the_timestamp_of_its_own_element():
    def build(stream):
        twice = assigned(stream, 10).flat_map(lambda v: [[*v, "x"], [*v, "y"]])
        return assigned(twice, 20)

    assert results(build, [[], [1]]) == [
        [LOWEST, "x", 11], [LOWEST, "y", 11], [1, LOWEST, "x", 12], [1, LOWEST, "y", 12],
    ]  # fmt: skip


def test_every_result_of_an_element_keeps_its_timestamp_through_a_conversion():
    """A conversion reads ahead, and must not disturb the operator that it reads from."""

    class Twice(ProcessFunction):
        def process_element(self, value, ctx):
            for number in range(600):
                yield number + value

    class When(ProcessFunction):
        def process_element(self, value, ctx):
            yield value, ctx.timestamp()

    class Value(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value

    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Value())

    def build(stream):
        times = stream.assign_timestamps_and_watermarks(strategy)
        many = times.process(Twice(), Types.LONG()).disable_chaining()
        return many.process(When())

    found = results(build, [1000, 2000])
    assert found == [(n + t, t) for t in (1000, 2000) for n in range(600)]


@pytest.mark.parametrize("pairs", [False, True])
def test_a_conversion_puts_the_cursor_back_before_it_draws(pairs):
    cursor, seen = Cursor(), []
    harness = Harness(ConvertOperator(Types.LIST(Types.LONG()), pairs))
    cursor = harness.cursor

    def elements():
        for at in (5, 6):
            cursor.timestamp = at
            for value in ([0], [1], [2]):
                seen.append(cursor.timestamp)
                yield ("k", value) if pairs else value

    for _ in harness.operator.process(elements()):
        cursor.timestamp = -99
    assert seen == [5, 5, 5, 6, 6, 6]


def test_an_assigner_leaves_the_cursor_alone():
    harness = Harness(AssignTimestamps(UserFunction.of(Shows(50)), None, 0))
    first, second = [], []
    list(harness.operator.process(iter([first, second])))
    assert first == second == [LOWEST]
    assert harness.operator.take_timestamps() == [51, 51]
