"""Side outputs of keyed, window and timer code."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import (
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
)
from pyflink.datastream.functions import ProcessAllWindowFunction

from compat_tests.pacing import timed
from compat_tests.running import collect
from compat_tests.windowing import elements, tumbling

TAG = OutputTag("side", Types.STRING())


def both(stream):
    side = stream.get_side_output(TAG)
    return collect(stream), collect(side)


def test_keyed_process_function_and_its_timers(env):
    class Tells(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_event_time_timer(value[1] + 1)
            yield TAG, f"element {value[1]}"
            yield value

        def on_timer(self, timestamp, ctx):
            yield TAG, f"timer {timestamp}"
            yield "timer", timestamp

    stream = elements(env, 5).process(Tells())
    assert both(stream) == ([("k", 5), ("timer", 6)], ["element 5", "timer 6"])


def test_process_window_function(env):
    class Tells(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield TAG, f"window {context.window().start}"
            yield len(elements)

    stream = elements(env, 1, 2, 11).window(tumbling(10)).process(Tells())
    assert both(stream) == ([2, 1], ["window 0", "window 10"])


def test_process_all_window_function(env):
    class Tells(ProcessAllWindowFunction):
        def process(self, context, elements):
            yield TAG, f"window {context.window().start}"
            yield len(elements)

    stream = timed(env.from_collection([("k", 1), ("k", 11)]))
    assert both(stream.window_all(tumbling(10)).process(Tells())) == (
        [1, 1], ["window 0", "window 10"],
    )  # fmt: skip


def test_side_output_of_a_window_has_its_time(env):
    class Tells(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield TAG, "x"

    class WithTime(ProcessFunction):
        def process_element(self, value, ctx):
            yield value, ctx.timestamp()

    side = elements(env, 1).window(tumbling(10)).process(Tells()).get_side_output(TAG)
    assert collect(side.process(WithTime())) == [("x", 9)]
