"""BATCH: one key after the other."""

from __future__ import annotations

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.connected import CoProcessOperator
from pyflink_on_spark._runtime.operators.process import KeyedProcessOperator
from pyflink_on_spark._runtime.operators.rolling import BatchKeyedInput
from pyflink_on_spark._runtime.user_code import UserFunction
from tests.runtime.harness import Harness
from tests.runtime.state.descriptors import Descriptor


class Tracing:
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(Descriptor("list", "seen"))

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        yield value, ctx.timestamp(), service.current_watermark()
        self.seen.add(value)
        service.register_processing_time_timer(10**15)
        service.register_event_time_timer(100)

    def on_timer(self, time, ctx):
        service = ctx.timer_service()
        yield ctx.get_current_key(), ctx.time_domain(), time, list(self.seen)
        if time == 100:
            assert service.current_watermark() == MAX_WATERMARK
            service.register_event_time_timer(50)

    def process_element1(self, value, ctx):
        return self.process_element((1, value), ctx)

    def process_element2(self, value, ctx):
        return self.process_element((2, value), ctx)


def test_keys_in_turn_elements_by_time():
    operator = KeyedProcessOperator(UserFunction.of(Tracing()), ("E", "P"))
    harness = Harness(BatchKeyedInput(operator), batch=True)
    harness.feed(("a", "late"), ("b", "only"), at=[9, 5])
    harness.feed(("a", "early"), ("a", "same"), at=[1, 1])
    assert harness.watermark(1000) == harness.time(1000) == []
    assert harness.end() == [
        ("early", 1, MIN_TIMESTAMP),
        ("same", 1, MIN_TIMESTAMP),
        ("late", 9, MIN_TIMESTAMP),
        ("a", "E", 100, ["early", "same", "late"]),
        ("a", "E", 50, ["early", "same", "late"]),
        ("a", "P", 10**15, ["early", "same", "late"]),
        ("only", 5, MIN_TIMESTAMP),
        ("b", "E", 100, ["only"]),
        ("b", "E", 50, ["only"]),
        ("b", "P", 10**15, ["only"]),
    ]
    assert harness.backend.snapshot() == {}


def test_timestamps_of_results():
    operator = KeyedProcessOperator(UserFunction.of(Tracing()), ("E", "P"))
    harness = Harness(BatchKeyedInput(operator), batch=True)
    harness.feed(("a", 1), at=[9])
    harness.watermark(MAX_WATERMARK)
    assert harness.timestamps == [9, 100, 50, 10**15]


def test_without_timestamps_in_order_of_arrival():
    operator = KeyedProcessOperator(UserFunction.of(Tracing()), ("E", "P"))
    harness = Harness(BatchKeyedInput(operator), batch=True)
    harness.feed(("a", 2), ("a", 1))
    assert harness.end()[:2] == [(v, MIN_TIMESTAMP, MIN_TIMESTAMP) for v in (2, 1)]


def test_inputs_of_connected_streams_are_merged_by_time():
    operator = CoProcessOperator(UserFunction.of(Tracing()), True, time_domains=("E", "P"))
    harness = Harness(BatchKeyedInput(operator), batch=True)
    harness.feed(("a", "x"), ("a", "z"), at=[1, 3])
    harness.feed(("a", "y"), port=1, at=[2])
    assert [value for value, *_ in harness.end()[:3]] == [(1, "x"), (2, "y"), (1, "z")]


def test_closes_the_operator():
    operator = KeyedProcessOperator(UserFunction.of(Tracing()), ("E", "P"))
    harness = Harness(BatchKeyedInput(operator), batch=True)
    assert [type(part) for part in harness.operator.parts()] == [KeyedProcessOperator]
    harness.operator.close()
