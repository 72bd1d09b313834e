"""How the reports of subtasks become a job's accumulators."""

from __future__ import annotations

from pyflink_on_spark._runtime.metrics import Accumulators, Measurement, MetricReport


def merged(*reports):
    accumulators = Accumulators()
    accumulators.add(
        MetricReport(operator, subtask, tuple(Measurement(*m) for m in measurements))
        for operator, subtask, *measurements in reports
    )
    return accumulators.results()


def test_counters_add_up_over_subtasks_and_operators():
    counts = {(1, 0): 1, (1, 1): 2, (2, 0): 4}
    reports = [(*place, ("c", "counter", count)) for place, count in counts.items()]
    assert merged(*reports) == {"c": 7}


def test_a_later_report_replaces_the_one_before():
    assert merged((1, 0, ("c", "counter", 5)), (1, 0, ("c", "counter", 6))) == {"c": 6}


def test_of_gauges_the_last_subtask_counts():
    assert merged((1, 1, ("g", "gauge", 7)), (1, 0, ("g", "gauge", 8))) == {"g": 7}


def test_meters():
    reports = [(1, 0, ("m", "meter", (3, 0.5))), (1, 1, ("m", "meter", (4, 1.0)))]
    assert merged(*reports) == {"m": {"count": 7, "rate": 1.5}}


def test_distributions():
    reports = [
        (1, 0, ("d", "distribution", (2, 10, 3, 7))),
        (1, 1, ("d", "distribution", (0, 0, None, None))),
        (1, 2, ("d", "distribution", (2, 2, -1, 3))),
    ]
    expected = {"count": 4, "sum": 12, "min": -1, "max": 7, "mean": 3.0}
    assert merged(*reports) == {"d": expected}


def test_a_distribution_without_values():
    empty = {"count": 0, "sum": 0, "min": None, "max": None, "mean": None}
    assert merged((1, 0, ("d", "distribution", (0, 0, None, None)))) == {"d": empty}


def test_names_of_several_kinds_are_told_apart():
    reports = [(1, 0, ("x", "counter", 1), ("x", "gauge", 2), ("y", "counter", 3))]
    assert merged(*reports) == {"x (counter)": 1, "x (gauge)": 2, "y": 3}
