"""The metrics of user functions, and their reports."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.metrics import Measurement, OperatorMetrics


class Clock:
    def __init__(self):
        self.time = 1_000_000

    def now(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def metrics(clock):
    return OperatorMetrics(clock)


def worth(metrics):
    return {m.name: m.value for m in metrics.report()}


def test_names_are_those_of_the_groups_with_dots(metrics):
    metrics.group.add_group("outer").add_group("key", "value").counter("seen").inc(3)
    assert metrics.report() == [Measurement("outer.key.value.seen", "counter", 3)]


def test_a_group_of_one_name_is_one(metrics):
    assert metrics.group.add_group("a") is metrics.group.add_group("a")
    assert metrics.group.add_group("a") is not metrics.group.add_group("a", "b")


def test_a_counter_of_one_name_is_one(metrics):
    metrics.group.counter("c").inc()
    metrics.group.counter("c").dec(3)
    assert worth(metrics) == {"c": -2}


def test_counters_count_whole_things(metrics):
    counter = metrics.group.counter("c")
    counter.inc(1.9)
    assert counter.get_count() == 1
    with pytest.raises(TypeError, match="an integer is required"):
        counter.inc("a")


def test_a_name_can_have_several_kinds(metrics):
    metrics.group.counter("x").inc()
    metrics.group.meter("x").mark_event(5)
    assert [(m.name, m.kind) for m in metrics.report()] == [("x", "counter"), ("x", "meter")]


def test_a_gauge_is_asked_for_each_report(metrics):
    values = iter([1, 2.5, True])
    metrics.group.gauge("g", lambda: next(values))
    assert [worth(metrics)["g"] for _ in range(3)] == [1, 2.5, 1]


def test_a_gauge_that_fails_says_which_it_is(metrics):
    metrics.group.add_group("a").gauge("g", lambda: "abc")
    with pytest.raises(ValueError, match="invalid literal") as raised:
        metrics.report()
    assert raised.value.__notes__ == ["This is the gauge 'a.g'."]


def test_a_later_gauge_replaces_the_one_before(metrics):
    metrics.group.gauge("g", lambda: 1)
    metrics.group.gauge("g", lambda: 2)
    assert worth(metrics) == {"g": 2}


def test_a_meter_forgets_what_is_older_than_its_span(metrics, clock):
    meter = metrics.group.meter("m", 60)
    for _ in range(4):
        meter.mark_event(60)
        clock.time += 30_000
    assert meter.get_count() == 240
    assert worth(metrics)["m"] == (240, 2.0)


def test_a_young_meter_counts_from_its_beginning(metrics, clock):
    meter = metrics.group.meter("m", 10)
    meter.mark_event(20)
    clock.time += 1000
    assert worth(metrics)["m"] == (20, 2.0)


def test_distributions(metrics):
    distribution = metrics.group.distribution("d")
    for value in (2, -1.5, 4):
        distribution.update(value)
    assert worth(metrics)["d"] == (3, 4.5, -1.5, 4)
    with pytest.raises(TypeError, match="an integer is required"):
        distribution.update("x")
