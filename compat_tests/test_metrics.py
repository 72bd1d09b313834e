"""Metrics of a RuntimeContext: the calls work and count."""

from __future__ import annotations

import pytest
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


@pytest.mark.one_attempt("metrics are no state")
def test_counters_gauges_meters_distributions(env):
    assert collect(env.from_collection([1, 2]).map(Measured())) == [(8, 1, 3), (16, 3, 6)]


def test_a_group_and_its_counters_are_there_once(env):
    class Twice(MapFunction):
        def open(self, runtime_context):
            group = runtime_context.get_metrics_group()
            self.same = group.add_group("a") is group.add_group("a")
            self.counters = group.counter("c"), group.counter("c")

        def map(self, value):
            self.counters[0].inc(2.9)
            self.counters[1].inc()
            return (self.same, *(counter.get_count() for counter in self.counters))

    assert collect(env.from_collection([1]).map(Twice())) == [(True, 3, 3)]


@pytest.mark.pyflink_bug("counts begin again with each bundle")
@pytest.mark.one_attempt("metrics are no state")
def test_counts_go_on(env):
    from pyflink.common import Configuration

    configuration = Configuration()
    configuration.set_string("python.fn-execution.bundle.size", "1")
    env.configure(configuration)

    class Counts(MapFunction):
        def open(self, runtime_context):
            self.counter = runtime_context.get_metrics_group().counter("c")

        def map(self, value):
            self.counter.inc()
            return self.counter.get_count()

    assert collect(env.from_collection([1, 2, 3]).map(Counts())) == [1, 2, 3]


@pytest.mark.one_attempt("metrics are no state")
def test_operators_do_not_share_counters(env):
    class Counts(MapFunction):
        def open(self, runtime_context):
            self.counter = runtime_context.get_metrics_group().counter("c")

        def map(self, value):
            self.counter.inc()
            return self.counter.get_count()

    assert collect(env.from_collection([1, 2]).map(Counts()).map(Counts())) == [1, 2]


@pytest.mark.parametrize("use", [
    lambda group: group.counter("c").inc("a"),
    lambda group: group.gauge("g", lambda: "abc"),
    lambda group: group.gauge("g", lambda: 1 // 0),
    lambda group: group.distribution("d").update("a"),
], ids=["counter", "gauge", "failing gauge", "distribution"])  # fmt: skip
def test_what_is_no_number_fails_the_job(env, use):
    class Wrong(MapFunction):
        def open(self, runtime_context):
            self.group = runtime_context.get_metrics_group()

        def map(self, value):
            use(self.group)
            return value

    with pytest.raises(Exception, match=r"integer|invalid literal|division"):
        collect(env.from_collection([1]).map(Wrong()))


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.pyflink_bug("metrics of Python functions are no accumulators")
@pytest.mark.one_attempt("metrics are no state")
def test_metrics_are_accumulators(env):
    class Measures(Measured):
        def close(self):
            self.counter.inc(100)

    env.from_collection([1, 2, 3, 4]).rebalance().map(Measures()).print()
    results = env.execute().get_all_accumulator_results()
    subtasks = env.get_parallelism()
    assert results["seen"] == 4 * 8 + 100 * subtasks
    assert results["outer.key.value.nested"] == 10
    assert results["rate"]["count"] == 12
    assert results["sizes"] == {"count": 4, "sum": 10, "min": 1, "max": 4, "mean": 2.5}
    assert results["value"] in {3, 4}
