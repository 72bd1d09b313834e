"""From the reports of subtasks to the accumulators of a job."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.metrics.group import Measurement

METRICS = "metrics"
"""The name of the channel to the driver through which subtasks report."""


@dataclass(frozen=True)
class MetricReport:
    """The values of the metrics of one operator in one subtask. Picklable.

    Args:
        operator: the operator's number in the job.
        subtask: which subtask, from 0.
        measurements: one for each metric.
    """

    operator: int
    subtask: int
    measurements: tuple[Measurement, ...]


class Accumulators:
    """Keeps the latest report of each subtask, and merges them."""

    def __init__(self) -> None:
        self._latest: dict[tuple[int, int], MetricReport] = {}
        self._lock = threading.Lock()

    def add(self, reports: Iterable[MetricReport]) -> None:
        """Take in reports; each replaces the one before of the same operator and subtask."""
        with self._lock:
            for report in reports:
                self._latest[report.operator, report.subtask] = report

    def reports(self) -> list[MetricReport]:
        """Return the latest report of each operator in each subtask."""
        with self._lock:
            return [report for _, report in sorted(self._latest.items())]

    def results(self) -> dict[str, Any]:
        """Return the accumulators by name.

        Metrics of one name and kind are one accumulator, over all subtasks and operators. A name
        that belongs to several kinds is followed by the kind.
        """
        values: dict[tuple[str, str], list[Any]] = {}
        for report in self.reports():
            for measurement in report.measurements:
                place = measurement.name, measurement.kind
                values.setdefault(place, []).append(measurement.value)
        names = [name for name, _ in values]
        return {
            name if names.count(name) == 1 else f"{name} ({kind})": _MERGE[kind](found)
            for (name, kind), found in values.items()
        }


def _meter(found: list[Any]) -> dict[str, Any]:
    return {"count": sum(v[0] for v in found), "rate": sum(v[1] for v in found)}


def _distribution(found: list[Any]) -> dict[str, Any]:
    given = [v for v in found if v[0]]
    count, total = sum(v[0] for v in given), sum(v[1] for v in given)
    return {
        "count": count,
        "sum": total,
        "min": min((v[2] for v in given), default=None),
        "max": max((v[3] for v in given), default=None),
        "mean": total / count if count else None,
    }


_MERGE: dict[str, Any] = {
    "counter": sum,
    "gauge": lambda found: found[-1],
    "meter": _meter,
    "distribution": _distribution,
}
