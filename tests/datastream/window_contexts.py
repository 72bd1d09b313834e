"""In-memory contexts for triggers and window assigners."""

from __future__ import annotations

from pyflink_on_spark.common.constants import MIN_LONG_VALUE
from pyflink_on_spark.datastream.state import ReducingState, ValueState
from pyflink_on_spark.datastream.window import MergingWindowAssigner, Trigger


class MemoryValue(ValueState):
    stored = None

    def value(self):
        return self.stored

    def update(self, value):
        self.stored = value

    def clear(self):
        self.stored = None


class MemoryReducing(ReducingState):
    def __init__(self, reduce):
        self.reduce = reduce
        self.stored = None

    def get(self):
        return self.stored

    def add(self, value):
        self.stored = value if self.stored is None else self.reduce(self.stored, value)

    def clear(self):
        self.stored = None


class TriggerBench(Trigger.OnMergeContext):
    """One key and window of a trigger; `merged` holds the states of the windows merged into it."""

    def __init__(self, watermark=MIN_LONG_VALUE, now=0):
        self.watermark, self.now = watermark, now
        self.event_timers, self.processing_timers = set(), set()
        self.states, self.merged = {}, []

    def get_current_processing_time(self):
        return self.now

    def get_metric_group(self):
        raise NotImplementedError

    def get_current_watermark(self):
        return self.watermark

    def register_processing_time_timer(self, time):
        self.processing_timers.add(time)

    def register_event_time_timer(self, time):
        self.event_timers.add(time)

    def delete_processing_time_timer(self, time):
        self.processing_timers.discard(time)

    def delete_event_time_timer(self, time):
        self.event_timers.discard(time)

    def get_partitioned_state(self, state_descriptor):
        assert state_descriptor._kind == "reducing"
        reduce = state_descriptor.get_reduce_function().reduce
        return self.states.setdefault(state_descriptor.name, MemoryReducing(reduce))

    def merge_partitioned_state(self, state_descriptor):
        state = self.get_partitioned_state(state_descriptor)
        for value in self.merged:
            state.add(value)


class AssignerBench:
    """One key of an assigner, as context and runtime context at once."""

    def __init__(self, now=0):
        self.now = now
        self.states = {}

    def get_current_processing_time(self):
        return self.now

    def get_runtime_context(self):
        return self

    def get_state(self, descriptor):
        assert descriptor._kind == "value"
        return self.states.setdefault(descriptor.name, MemoryValue())


class Merges(MergingWindowAssigner.MergeCallback):
    def __init__(self):
        self.seen = []

    def merge(self, to_be_merged, merge_result):
        self.seen.append((sorted(to_be_merged), merge_result))
