"""Where a user function registers its metrics: what ``get_metrics_group()`` returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.elements.clock import Clock
from pyflink_on_spark._runtime.metrics.kinds import (
    CounterValue,
    DistributionValue,
    GaugeValue,
    MeterValue,
)
from pyflink_on_spark.metrics import Counter, Distribution, Meter, MetricGroup

Registered = CounterValue | MeterValue | DistributionValue | GaugeValue


@dataclass(frozen=True)
class Measurement:
    """The value of one metric of one subtask.

    Args:
        name: its full name: the names of its groups, then its own, with dots between.
        kind: ``counter``, ``gauge``, ``meter`` or ``distribution``.
        value: as the kind's ``report`` returns it.
    """

    name: str
    kind: str
    value: Any


class OperatorMetrics:
    """The metrics of one operator in one subtask.

    A report calls the user's gauges: what they raise says which one it is.

    Args:
        clock: processing time.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._registered: dict[tuple[str, str], Registered] = {}
        self.group = OperatorMetricGroup(self, ())

    def register(self, name: str, metric: Registered) -> Registered:
        """Add a metric; of one kind and name there is one, a gauge replaces the one before."""
        place = name, metric.kind
        if metric.kind == "gauge" or place not in self._registered:
            self._registered[place] = metric
        return self._registered[place]

    def report(self) -> list[Measurement]:
        """Return the current values of all metrics."""
        measurements = []
        for (name, kind), metric in self._registered.items():
            try:
                measurements.append(Measurement(name, kind, metric.report()))
            except Exception as error:
                error.add_note(f"This is the {kind} {name!r}.")
                raise
        return measurements


class OperatorMetricGroup(MetricGroup):
    """A named place for metrics.

    Args:
        metrics: where they are registered.
        scope: the names of the groups around it, and its own.
    """

    def __init__(self, metrics: OperatorMetrics, scope: tuple[str, ...]) -> None:
        self._metrics = metrics
        self._scope = scope
        self._groups: dict[tuple[str, ...], OperatorMetricGroup] = {}

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the group of this name inside this one; with ``extra`` that of name and value."""
        step = (name,) if extra is None else (name, extra)
        if step not in self._groups:
            self._groups[step] = OperatorMetricGroup(self._metrics, (*self._scope, *step))
        return self._groups[step]

    def counter(self, name: str) -> Counter:
        """Register a counter and return it."""
        counter: Counter = self._add(name, CounterValue())
        return counter

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Register a function whose result is read whenever metrics are reported.

        On Spark: that is at checkpoints, about every second of an unbounded job, and at the end.
        """
        self._add(name, GaugeValue(obj))

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Register a meter and return it.

        Args:
            name: the meter's name.
            time_span_in_seconds: the time over which the rate is averaged, at least 5 seconds.
        """
        meter: Meter = self._add(name, MeterValue(time_span_in_seconds, self._metrics.clock))
        return meter

    def distribution(self, name: str) -> Distribution:
        """Register a distribution and return it."""
        distribution: Distribution = self._add(name, DistributionValue())
        return distribution

    def _add(self, name: str, metric: Any) -> Any:
        return self._metrics.register(".".join(map(str, (*self._scope, name))), metric)
