"""Counts elements by key, and tells the count once a key has been quiet for a minute."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, OutputTag
from pyflink.datastream.state import ValueStateDescriptor

QUIET_MS = 60_000
LATE = OutputTag("late", Types.STRING())


class CountWithTimeout(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value, ctx):
        if ctx.timestamp() <= ctx.timer_service().current_watermark():
            yield LATE, value
            return
        self.count.update((self.count.value() or 0) + 1)
        self.last.update(max(self.last.value() or 0, ctx.timestamp()))
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + QUIET_MS)

    def on_timer(self, timestamp, ctx):
        if timestamp == self.last.value() + QUIET_MS:
            yield ctx.get_current_key(), self.count.value()
            self.count.clear()
            self.last.clear()
