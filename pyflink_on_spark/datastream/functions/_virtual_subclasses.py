"""Lets ``isinstance`` say of the engine's objects what a user expects, for example in ``open``.

The engine knows nothing of the mirror's abstract classes; here they learn who does their work.
"""

from __future__ import annotations

from pyflink_on_spark._runtime.contract import operator as engine_context
from pyflink_on_spark._runtime.operators import process as contexts
from pyflink_on_spark._runtime.state import keyed_state as aggregate_states
from pyflink_on_spark._runtime.state import keyed_state as list_state
from pyflink_on_spark._runtime.state import keyed_state as value_state
from pyflink_on_spark._runtime.state import map_state, operator_state, timers
from pyflink_on_spark._runtime.windows.operation import StateOfNamespace
from pyflink_on_spark.datastream import state
from pyflink_on_spark.datastream.functions import process_functions as broadcast
from pyflink_on_spark.datastream.functions.process_functions import (
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from pyflink_on_spark.datastream.functions.runtime_context import KeyedStateStore, RuntimeContext
from pyflink_on_spark.datastream.timerservice import TimerService

KeyedStateStore.register(StateOfNamespace)
RuntimeContext.register(engine_context.RuntimeContext)
TimerService.register(timers.KeyedTimerService)
TimerService.register(timers.BroadcastTimerService)
TimerService.register(timers.NonKeyedTimerService)

state.ValueState.register(value_state.ValueState)
state.ListState.register(list_state.ListState)
state.ListState.register(operator_state.OperatorListState)
state.MapState.register(map_state.MapState)
state.ReducingState.register(aggregate_states.ReducingState)
state.AggregatingState.register(aggregate_states.AggregatingState)
state.BroadcastState.register(operator_state.BroadcastState)
state.ReadOnlyBroadcastState.register(operator_state.ReadOnlyBroadcastState)

ProcessFunction.Context.register(contexts.ElementContext)
CoProcessFunction.Context.register(contexts.ElementContext)
KeyedProcessFunction.Context.register(contexts.KeyedElementContext)
KeyedProcessFunction.OnTimerContext.register(contexts.TimerContext)
KeyedCoProcessFunction.Context.register(contexts.KeyedElementContext)
KeyedCoProcessFunction.OnTimerContext.register(contexts.TimerContext)
broadcast.BroadcastProcessFunction.Context.register(contexts.BroadcastElementContext)
broadcast.BroadcastProcessFunction.ReadOnlyContext.register(contexts.ReadOnlyContext)
broadcast.KeyedBroadcastProcessFunction.Context.register(contexts.BroadcastElementContext)
broadcast.KeyedBroadcastProcessFunction.ReadOnlyContext.register(contexts.OtherKeyedElementContext)
broadcast.KeyedBroadcastProcessFunction.OnTimerContext.register(contexts.BroadcastOnTimerContext)
