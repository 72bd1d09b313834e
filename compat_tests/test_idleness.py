"""Streams that have nothing for a while, beside others that have elements all the time.

`quiet` has one element, and then none for longer than it takes to be idle. `busy` has one after
each pause. So the watermark of both follows `busy` meanwhile.
"""

from __future__ import annotations

import time

import pytest
from pyflink.common import Duration, WatermarkStrategy
from pyflink.datastream import CoProcessFunction, ProcessFunction

from compat_tests.pacing import SecondField
from compat_tests.running import collect

IDLE_MS = 400
PAUSE_SECONDS = 0.04
LAST = 2**63 - 1

pytestmark = pytest.mark.one_attempt("a restart sets the watermark back")


def with_pauses(env, elements):
    """A stream of tuples, None for nothing, with a pause before each; idle without elements."""

    def pause(element):
        time.sleep(PAUSE_SECONDS)
        return element

    def is_there(element):
        return element[0] != "nothing"

    nothing = ("nothing", 0)
    stream = env.from_collection([element or nothing for element in elements])
    strategy = (
        WatermarkStrategy.for_monotonous_timestamps()
        .with_idleness(Duration.of_millis(IDLE_MS))
        .with_timestamp_assigner(SecondField())
    )
    there = stream.map(pause).rebalance().filter(is_there)
    return there.assign_timestamps_and_watermarks(strategy)


def busy(env, count):
    return with_pauses(env, [("busy", 1000 + 10 * number) for number in range(count)])


class Shows(ProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], value[1], ctx.timer_service().current_watermark()


class ShowsBoth(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value[0], value[1], ctx.timer_service().current_watermark()

    def process_element2(self, value, ctx):
        yield value[0], value[1], ctx.timer_service().current_watermark()


def while_old(seen):
    """The watermarks that were seen while the quiet stream had old elements again."""
    old = [index for index, (name, time, _) in enumerate(seen) if name == "quiet" and time > 5]
    return [watermark for _, _, watermark in seen[old[4] : old[-1]]]


QUIET = [("quiet", 5), *[None] * 30, *[("quiet", 10 + number) for number in range(30)]]


def test_old_elements_after_a_rest_hold_a_union_not_back(paced_env):
    both = with_pauses(paced_env, QUIET).union(busy(paced_env, 75))
    watermarks = while_old(collect(both.process(Shows())))
    assert 999 < watermarks[0] < watermarks[-1] < LAST
    assert len(set(watermarks)) > 10


def test_old_elements_after_a_rest_hold_the_other_input_back(paced_env):
    both = with_pauses(paced_env, QUIET).connect(busy(paced_env, 75))
    watermarks = while_old(collect(both.process(ShowsBoth())))
    assert 999 < watermarks[0] == watermarks[-1] < LAST


@pytest.mark.parametrize("inputs", [1, 2])
def test_a_stream_that_rests_beside_one_that_has_ended_is_late(paced_env, inputs):
    ended = with_pauses(paced_env, [("quiet", 5)])
    rests = with_pauses(paced_env, [("busy", 10), *[None] * 40, ("busy", 20)])
    if inputs == 1:
        seen = collect(ended.union(rests).process(Shows()))
    else:
        seen = collect(ended.connect(rests).process(ShowsBoth()))
    assert seen[-1] == ("busy", 20, LAST)
