"""A stream that is connected to a broadcast one."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.connected import BroadcastProcessOperator
from pyflink_on_spark._runtime.operators.rolling import BatchKeyedInput
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import Harness, Tag, keyed
from tests.runtime.state.descriptors import Descriptor

RULES = Descriptor("map", "rules")


class Rules:
    def process_element(self, value, ctx):
        yield value, dict(ctx.get_broadcast_state(RULES).items()), ctx.timestamp()
        yield Tag("seen"), value

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value, ctx.current_watermark())


class KeyedRules(Rules):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value)
        yield ctx.get_current_key(), list(ctx.get_broadcast_state(RULES))

    def on_timer(self, time, ctx):
        yield time, ctx.get_current_key(), ctx.time_domain(), list(ctx.get_broadcast_state(RULES))


def operator(function, is_keyed):
    return BroadcastProcessOperator(
        UserFunction.of(function), is_keyed, UserFunction.of((RULES,)), time_domains=("E", "P")
    )


def test_without_key():
    harness = Harness(operator(Rules(), False))
    assert harness.feed("x") == [("x", {}, MIN_TIMESTAMP)]
    assert harness.feed("rule", port=1) == []
    assert harness.watermark(5) == []
    harness.feed("rule2", port=1)
    assert harness.feed("x", at=[9]) == [("x", {"rule": MIN_TIMESTAMP, "rule2": 5}, 9)]
    assert [(tag, value) for tag, value, _ in harness.side] == [("seen", "x")] * 2


def test_with_key():
    harness = Harness(operator(KeyedRules(), True))
    harness.feed("rule", port=1)
    assert harness.feed(*keyed(("a", 10), ("b", 5))) == [("a", ["rule"]), ("b", ["rule"])]
    assert harness.watermark(10) == [(5, "b", "E", ["rule"]), (10, "a", "E", ["rule"])]
    assert harness.timestamps == [5, 10]


def test_element_side_cannot_write():
    class Writing(Rules):
        def process_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put("x", 1)

    with pytest.raises(AttributeError, match="put"):
        Harness(operator(Writing(), False)).feed("x")


def test_state_survives():
    original = Harness(operator(Rules(), False))
    original.feed("rule", port=1)
    state = OperatorState()
    state.restore(original.operator_state.snapshot())
    copy = Harness(operator(Rules(), False), operator_state=state)
    assert copy.feed("x")[0][1] == {"rule": MIN_TIMESTAMP}


def test_batch_takes_the_broadcast_side_first():
    harness = Harness(operator(Rules(), False), batch=True)
    assert harness.feed("x", "y", at=[3, 4]) == []
    assert harness.feed("rule", port=1) == []
    rules = {"rule": MIN_TIMESTAMP}
    assert harness.watermark(MAX_WATERMARK) == [("x", rules, 3), ("y", rules, 4)]
    assert harness.timestamps == [3, 4]
    assert harness.end() == []


def test_keyed_batch():
    harness = Harness(BatchKeyedInput(operator(KeyedRules(), True)), batch=True)
    assert harness.feed(*keyed(("a", 10))) == []
    harness.feed("rule", port=1)
    assert harness.end() == [("a", ["rule"]), (10, "a", "E", ["rule"])]
