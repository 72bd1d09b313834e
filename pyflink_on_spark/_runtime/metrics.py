"""The metric group of a user function, and accumulators."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.types.codec import whole
from pyflink_on_spark.metrics import Counter, Distribution, Meter, MetricGroup

_SAMPLE_INTERVAL = 5_000
METRICS = "metrics"
"""The name of the channel to the driver through which subtasks report."""


class CounterValue(Counter):
    """A number that goes up and down.

    On Spark: it counts on as long as the subtask lives, while PyFlink's process mode begins again
    at 0 with each bundle.
    """

    kind = "counter"
    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        """Add ``n``, cut to a whole number."""
        self._count += n if type(n) is int else whole(n)

    def dec(self, n: int = 1) -> None:
        """Subtract ``n``, cut to a whole number."""
        self._count -= n if type(n) is int else whole(n)

    def get_count(self) -> int:
        """Return the number as it is now."""
        return self._count

    def report(self) -> int:
        """Return the number."""
        return self._count


class MeterValue(Meter):
    """The number of events, and their recent rate per second.

    Args:
        time_span_in_seconds: over which time the rate is averaged.
        clock: processing time.
    """

    kind = "meter"
    __slots__ = ("_clock", "_count", "_next", "_samples", "_span")

    def __init__(self, time_span_in_seconds: int, clock: Clock) -> None:
        self._span = max(whole(time_span_in_seconds) * 1000, _SAMPLE_INTERVAL)
        self._clock = clock
        self._count = 0
        self._samples: deque[tuple[int, int]] = deque()
        self._next = 0

    def mark_event(self, value: int = 1) -> None:
        """Say that ``value`` events have happened."""
        now = self._clock.now()
        if now >= self._next:
            self._sample(now)
        self._count += value if type(value) is int else whole(value)

    def get_count(self) -> int:
        """Return how many events have been marked altogether."""
        return self._count

    def report(self) -> tuple[int, float]:
        """Return the count, and the events per second over the time span."""
        now = self._clock.now()
        before = 0
        for time, count in self._samples:
            if time > now - self._span:
                break
            before = count
        return self._count, (self._count - before) * 1000 / self._span

    def _sample(self, now: int) -> None:
        samples = self._samples
        samples.append((now, self._count))
        while len(samples) > 1 and samples[1][0] <= now - self._span:
            samples.popleft()
        self._next = now + _SAMPLE_INTERVAL


class DistributionValue(Distribution):
    """Number, sum, smallest and largest of the values that it was given."""

    kind = "distribution"
    __slots__ = ("_count", "_max", "_min", "_sum")

    def __init__(self) -> None:
        self._count = 0
        self._sum: object = 0
        self._min: object = None
        self._max: object = None

    def update(self, value: Any) -> None:
        """Take one more number into account.

        On Spark: fractions are kept, where PyFlink cuts them off.
        """
        if type(value) is not int and type(value) is not float:
            value = whole(value)
        if not self._count:
            self._min = self._max = value
        elif value < self._min:
            self._min = value
        elif value > self._max:
            self._max = value
        self._count += 1
        self._sum += value

    def report(self) -> tuple[int, object, object, object]:
        """Return number, sum, smallest and largest."""
        return self._count, self._sum, self._min, self._max


class GaugeValue:
    """A user function, called for each report.

    Args:
        function: returns a number.
    """

    kind = "gauge"
    __slots__ = ("_function",)

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    def report(self) -> object:
        """Return the value of the function, converted to a number if necessary."""
        value = self._function()
        return value if type(value) is int or type(value) is float else int(value)


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

    def results(self) -> dict[str, object]:
        """Return the accumulators by name.

        Metrics of one name and kind are one accumulator, over all subtasks and operators. A name
        that belongs to several kinds is followed by the kind.
        """
        values: dict[tuple[str, str], list[object]] = {}
        for report in self.reports():
            for measurement in report.measurements:
                place = measurement.name, measurement.kind
                values.setdefault(place, []).append(measurement.value)
        names = [name for name, _ in values]
        return {
            name if names.count(name) == 1 else f"{name} ({kind})": _MERGE[kind](found)
            for (name, kind), found in values.items()
        }


def _meter(found: list[Any]) -> dict[str, object]:
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
