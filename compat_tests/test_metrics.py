"""Metrics of a RuntimeContext: the calls work and count."""

from __future__ import annotations

from pyflink.datastream import MapFunction

from compat_tests.running import collect


class Measured(MapFunction):
    def open(self, runtime_context):
        group = runtime_context.get_metrics_group()
        self.counter = group.counter("seen")
        self.nested = group.add_group("outer").add_group("key", "value").counter("nested")
        self.meter = group.meter("rate", 120)
        self.distribution = group.distribution("sizes")
        self.value = 0
        group.gauge("value", lambda: self.value)

    def map(self, value):
        self.value = value
        self.counter.inc()
        self.counter.inc(10)
        self.counter.dec()
        self.counter.dec(2)
        self.nested.inc(value)
        self.meter.mark_event()
        self.meter.mark_event(2)
        self.distribution.update(value)
        return self.counter.get_count(), self.nested.get_count(), self.meter.get_count()


def test_counters_gauges_meters_distributions(env):
    assert collect(env.from_collection([1, 2]).map(Measured())) == [(8, 1, 3), (16, 3, 6)]
