"""``isinstance`` holds for what user functions are given."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
    TimerService,
)
from pyflink_on_spark.datastream.functions import KeyedStateStore
from pyflink_on_spark.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    AppendingState,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    MergingState,
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateTtlConfig,
    ValueState,
    ValueStateDescriptor,
)


class Last(AggregateFunction):
    def create_accumulator(self):
        return None

    def add(self, value, accumulator):
        return value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_b


def descriptors():
    return [
        ("get_state", ValueStateDescriptor("v", Types.INT())),
        ("get_list_state", ListStateDescriptor("l", Types.INT())),
        ("get_map_state", MapStateDescriptor("m", Types.INT(), Types.INT())),
        ("get_reducing_state", ReducingStateDescriptor("r", lambda a, b: a, Types.INT())),
        ("get_aggregating_state", AggregatingStateDescriptor("a", Last(), Types.INT())),
    ]


class Checking(KeyedProcessFunction):
    """Yields the names of the abstract classes that what it is given belongs to."""

    def __init__(self, ttl):
        self.ttl = ttl

    def open(self, runtime_context):
        self.found = [isinstance(runtime_context, (RuntimeContext, KeyedStateStore))]
        kinds = (ValueState, ListState, MapState, ReducingState, AggregatingState)
        for method, descriptor in descriptors():
            if self.ttl:
                descriptor.enable_time_to_live(self.ttl)
            state = getattr(runtime_context, method)(descriptor)
            self.found.append([kind.__name__ for kind in kinds if isinstance(state, kind)])
            self.found.append(
                [isinstance(state, kind) for kind in (State, AppendingState, MergingState)]
            )

    def process_element(self, value, ctx):
        yield from self.found
        yield isinstance(ctx, KeyedProcessFunction.Context)
        yield isinstance(ctx, KeyedProcessFunction.OnTimerContext)
        yield isinstance(ctx.timer_service(), TimerService)
        ctx.timer_service().register_event_time_timer(1)

    def on_timer(self, timestamp, ctx):
        yield isinstance(ctx, KeyedProcessFunction.OnTimerContext)


class Unkeyed(ProcessFunction):
    def process_element(self, value, ctx):
        yield (
            isinstance(ctx, ProcessFunction.Context),
            isinstance(ctx.timer_service(), TimerService),
        )


@pytest.mark.parametrize("ttl_ms", [None, 1000])
def test_keyed(local_engine, ttl_ms):
    from pyflink_on_spark.common.time import Time

    ttl = ttl_ms and StateTtlConfig.new_builder(Time.milliseconds(ttl_ms)).build()
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([1]).key_by(lambda value: value).process(Checking(ttl))
    plain, merging = [True, False, False], [True, True, True]
    assert list(stream.execute_and_collect()) == [
        True,
        ["ValueState"],
        plain,
        ["ListState"],
        merging,
        ["MapState"],
        plain,
        ["ReducingState"],
        merging,
        ["AggregatingState"],
        merging,
        True,
        False,
        True,
        True,
    ]


def test_unkeyed(local_engine):
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([1]).process(Unkeyed())
    assert list(stream.execute_and_collect()) == [(True, True)]
