"""The current values of Flink's metrics of a job, with scopes, and the settings of reporters."""

from __future__ import annotations

import hashlib
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._job.job import CheckpointRecord
from pyflink_on_spark._operate.view.jobs import TASK_MANAGER, JobTask, OperatedJob
from pyflink_on_spark._options.flink import REPORTER, REPORTERS
from pyflink_on_spark._options.option import parse_duration_ms
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.metrics import Measurement
from pyflink_on_spark._runtime.task.subtask_threads import TaskProgress
from pyflink_on_spark.common import JobStatus

JOB = "jobmanager.job"
TASK = "taskmanager.job.task"
OPERATOR = "taskmanager.job.task.operator"
_TIMES = ("busyTimeMsPerSecond", "idleTimeMsPerSecond", "backPressuredTimeMsPerSecond")
_OUT: dict[str, Callable[[TaskProgress], float]] = {
    "numRecordsOut": lambda part: part.records,
    "numRecordsOutPerSecond": lambda part: part.records_per_second,
}
_REPORT_SECONDS = 1.0
"""Hosts that work report more often than that."""
Labels = dict[str, str]
_FACTORY = "factory.class"
_INTERVAL_MS = 10_000
_PACKAGE = "org.apache.flink.metrics."
PROMETHEUS, GATEWAY, LOG, STATSD = "prometheus", "push gateway", "log", "StatsD"
OTEL = "OpenTelemetry"
_KINDS = {
    f"{_PACKAGE}prometheus.PrometheusReporterFactory": PROMETHEUS,
    f"{_PACKAGE}prometheus.PrometheusPushGatewayReporterFactory": GATEWAY,
    f"{_PACKAGE}slf4j.Slf4jReporterFactory": LOG,
    f"{_PACKAGE}statsd.StatsDReporterFactory": STATSD,
    f"{_PACKAGE}otel.OpenTelemetryMetricReporterFactory": OTEL,
}
_JMX = f"{_PACKAGE}jmx.JMXReporterFactory"


@dataclass(frozen=True)
class Sample:
    """The value of one metric.

    Args:
        scope: the logical scope, without variables.
        name: the metric's name, after the scope and the user's groups.
        value: a number, or a text for a metric that is no number.
        labels: the variables of the scope by name.
    """

    scope: str
    name: str
    value: float | int | str
    labels: Labels

    @property
    def identifier(self) -> str:
        """The metric's name in the default scope formats of Flink, such as logs show."""
        labels = self.labels
        host, job, index = labels["host"], labels["job_name"], labels.get("subtask_index", "")
        scopes = {
            JOB: (host, "jobmanager", job),
            TASK: (host, "taskmanager", TASK_MANAGER, job, labels.get("task_name", ""), index),
            OPERATOR: (
                host, "taskmanager", TASK_MANAGER, job, labels.get("operator_name", ""), index
            ),
        }  # fmt: skip
        return ".".join((*scopes[self.scope], self.name))


def samples_of(operated: OperatedJob) -> Iterator[Sample]:
    """Yield all metrics of a job."""
    labels = {
        "host": socket.gethostname(),
        "job_id": operated.id,
        "job_name": operated.job.name,
    }
    for name, value in job_metrics(operated).items():
        yield Sample(JOB, name, value, labels)
    tasks = operated.tasks
    yield from _task_samples(operated, tasks, labels)
    known = list(_operator_samples(operated, tasks, labels))
    yield from known
    places = {_place(sample) for sample in known}
    for sample in _user_samples(operated, tasks, labels):
        if _place(sample) not in places:  # of two metrics of one name, Flink too reports the first
            yield sample


def job_metrics(operated: OperatedJob) -> dict[str, float | int | str]:
    """Return the metrics of a job that belong to no task."""
    history = operated.history
    counts, status = history.counts, operated.status
    since = round(time.time() * 1000) - history.times.get(status, operated.started)
    metrics: dict[str, float | int | str] = {
        "numRestarts": history.attempt,
        "fullRestarts": history.attempt,
        "uptime": since if status is JobStatus.RUNNING else 0,
        "downtime": since if status is JobStatus.RESTARTING else 0,
        "runningTime": since if status is JobStatus.RUNNING else 0,
        "restartingTime": since if status is JobStatus.RESTARTING else 0,
        "totalNumberOfCheckpoints": counts.total,
        "numberOfInProgressCheckpoints": counts.in_progress,
        "numberOfCompletedCheckpoints": counts.completed,
        "numberOfFailedCheckpoints": counts.failed,
        "lastCheckpointRestoreTimestamp": (
            -1 if history.restored is None else history.restored.triggered
        ),
    }
    return metrics | _last_checkpoint(history.last_completed(savepoint=False))


def task_metrics(part: TaskProgress, is_source: bool) -> dict[str, float | int | str]:
    """Return the metrics of one subtask of a task, or of all of them."""
    metrics: dict[str, float | int | str] = {
        "numRecordsIn": part.records,
        "numRecordsInPerSecond": part.records_per_second,
        "stateEntries": part.state_entries,
    }
    for name, share in zip(_TIMES, time_shares(part), strict=True):
        metrics[name] = round(share * 1000)
    metrics["accumulateBusyTimeMs"] = round(part.busy * 1000)
    metrics["accumulateBackPressuredTimeMs"] = round(part.backpressured * 1000)
    return metrics | _event_time_metrics(part, is_source)


def operator_metrics(part: TaskProgress, is_source: bool) -> dict[str, float | int | str]:
    """Return the metrics of the first operator of one subtask of a task."""
    metrics: dict[str, float | int | str] = {
        "numRecordsIn": part.records,
        "numRecordsInPerSecond": part.records_per_second,
    }
    if is_source and part.last_records_at is not None:
        silence = time.monotonic() - part.last_records_at
        metrics["sourceIdleTime"] = round(silence * 1000) if silence > _REPORT_SECONDS else 0
    return metrics | _event_time_metrics(part, is_source)


def _event_time_metrics(part: TaskProgress, is_source: bool) -> dict[str, int]:
    watermark = MIN_TIMESTAMP if part.watermark is None else part.watermark
    metrics = {"currentOutputWatermark" if is_source else "currentInputWatermark": watermark}
    if is_source and MIN_TIMESTAMP < watermark < MAX_WATERMARK:
        metrics["watermarkLag"] = round(time.time() * 1000) - watermark
    if part.backlog is not None:
        metrics["pendingRecords"] = part.backlog
    return metrics


def time_shares(part: TaskProgress) -> tuple[float, float, float]:
    """Return which parts of the last seconds a subtask was busy, idle and backpressured."""
    busy, held = part.busy_share, part.backpressured_share
    return busy, max(0.0, 1.0 - busy - held), held


def _last_checkpoint(record: CheckpointRecord | None) -> dict[str, float | int | str]:
    if record is None or record.ended is None:
        return {"lastCheckpointDuration": -1, "lastCheckpointSize": -1}
    return {
        "lastCompletedCheckpointId": record.number,
        "lastCheckpointDuration": record.ended - record.triggered,
        "lastCheckpointSize": record.size,
        "lastCheckpointFullSize": record.size,
        "lastCheckpointExternalPath": record.path or "n/a",
    }


def _task_samples(
    operated: OperatedJob, tasks: tuple[JobTask, ...], labels: Labels
) -> Iterator[Sample]:
    for task, part, subtask in _reported(operated, tasks):
        scope = {**labels, **_task_labels(operated, task, subtask)}
        for name, value in task_metrics(part, task.has_source).items():
            yield Sample(TASK, name, value, scope)
    by_name = {task.name: task for task in tasks}
    parts = list(operated.parts)
    for metric, figure in _OUT.items():
        for name, left in records_out(tasks, parts, figure).items():
            task = by_name[name]
            if task.parallelism == 1:
                scope = {**labels, **_task_labels(operated, task, 0)}
                yield Sample(TASK, metric, left, scope)


def _operator_samples(
    operated: OperatedJob, tasks: tuple[JobTask, ...], labels: Labels
) -> Iterator[Sample]:
    for task, part, subtask in _reported(operated, tasks):
        scope = {
            **labels,
            **_task_labels(operated, task, subtask),
            **_labels_of_first(task),
        }
        for name, value in operator_metrics(part, task.has_source).items():
            yield Sample(OPERATOR, name, value, scope)


def _reported(
    operated: OperatedJob, tasks: tuple[JobTask, ...]
) -> Iterator[tuple[JobTask, TaskProgress, int]]:
    """Yield the reports of subtasks, with their tasks and numbers."""
    by_name: dict[str, JobTask] = {}
    for task in tasks:
        by_name.setdefault(task.name, task)
    for part in list(operated.parts):
        if part.name in by_name and part.subtask is not None:
            yield by_name[part.name], part, part.subtask


def records_out(
    tasks: tuple[JobTask, ...],
    parts: list[TaskProgress],
    figure: Callable[[TaskProgress], float] = _OUT["numRecordsOut"],
) -> dict[str, float]:
    """Return how many elements have left tasks, where the tasks after them tell it.

    That is where one task reads from a task, and from no other.

    Args:
        tasks: those of the job.
        parts: what their subtasks have reported.
        figure: what is added up of the subtasks that read.
    """
    names = Counter(task.name for task in tasks)
    readers: dict[str, list[JobTask]] = defaultdict(list)
    for task in tasks:
        for edge in task.inputs:
            readers[edge.source].append(task)
    arrived: dict[str, float] = defaultdict(int)
    for part in parts:
        arrived[part.name] += figure(part)
    return {
        task.name: arrived[reader.name]
        for task in tasks
        if len(found := readers[task.id]) == 1
        and len((reader := found[0]).inputs) == 1
        and names[task.name] == names[reader.name] == 1
        and reader.name in arrived
    }


def _task_labels(operated: OperatedJob, task: JobTask, subtask: int) -> Labels:
    return {
        "tm_id": TASK_MANAGER,
        "task_id": task.id,
        "task_name": task.name,
        "task_attempt_num": str(operated.history.attempt),
        "subtask_index": str(subtask),
    }


def _user_samples(
    operated: OperatedJob, tasks: tuple[JobTask, ...], labels: Labels
) -> Iterator[Sample]:
    places = {plan.node: (task, plan) for task in tasks for plan in task.operators}
    for report in operated.job.accumulators.reports():
        place = places.get(report.operator)
        if place is None:
            continue
        task, plan = place
        scope = {
            **labels,
            **_task_labels(operated, task, report.subtask),
            **_operator_labels(plan.name, plan.state_id or plan.name),
        }
        for measurement in report.measurements:
            for name, value in user_metrics(measurement).items():
                yield Sample(OPERATOR, name, value, scope)


def user_metrics(measurement: Measurement) -> dict[str, Any]:
    """Return the numbers of a user's metric by name: a meter is its rate, as for Flink."""
    name, value = measurement.name, measurement.value
    if measurement.kind == "meter":
        return {name: value[1], f"{name}_count": value[0]}
    if measurement.kind == "distribution":
        parts = dict(zip(("count", "sum", "min", "max"), value, strict=True))
        return {f"{name}_{part}": number for part, number in parts.items() if number is not None}
    return {name: value}


def _labels_of_first(task: JobTask) -> Labels:
    """Return the labels of a task's first operator: a source has the name that Flink shows."""
    if task.has_source or not task.operators:
        name = f"Source: {task.name.partition(' -> ')[0]}"
        return _operator_labels(name, name)
    first = task.operators[0]
    return _operator_labels(first.name, first.state_id or first.name)


def _operator_labels(name: str, stable_name: str) -> Labels:
    identifier = hashlib.md5(stable_name.encode(), usedforsecurity=False).hexdigest()
    return {"operator_id": identifier, "operator_name": name}


def _place(sample: Sample) -> tuple[str, str, str]:
    return sample.labels["operator_id"], sample.labels["subtask_index"], sample.name


_OPTIONS = {
    PROMETHEUS: {"port", "filterLabelValueCharacters"},
    GATEWAY: {"hostUrl", "jobName", "randomJobNameSuffix", "deleteOnShutdown", "groupingKey"},
    LOG: set(),
    STATSD: {"host", "port"},
    OTEL: {
        "exporter.endpoint",
        "exporter.protocol",
        "exporter.timeout",
        "service.name",
        "service.version",
    },
}


@dataclass(frozen=True)
class ReporterSettings:
    """One reporter.

    Args:
        name: as the user calls it.
        kind: ``PROMETHEUS``, ``GATEWAY``, ``LOG``, ``STATSD`` or ``OTEL``.
        interval: how often it reports, in s.
        options: its own options by name.
    """

    name: str
    kind: str
    interval: float
    options: Mapping[str, str] = field(default_factory=dict)


def reporters_of(configuration: Mapping[str, str]) -> list[ReporterSettings]:
    """Return the reporters that a configuration asks for.

    Args:
        configuration: ``metrics.reporters`` names those that are used; all, if it is not set.

    Raises:
        UnsupportedFlinkFeature: a reporter needs Flink's JVM, or is not there yet.
        ValueError: a reporter has no factory class, or an option that cannot be read.
    """
    options: dict[str, dict[str, str]] = {}
    for key, value in configuration.items():
        if key.startswith(REPORTER.prefix):
            name, _, option = key[len(REPORTER.prefix) :].partition(".")
            options.setdefault(name, {})[option] = value
    used = [name.strip() for name in (REPORTERS.read(configuration) or "").split(",")]
    names = [name for name in used if name] or list(options)
    return [_reporter(name, options.get(name, {})) for name in names]


def _reporter(name: str, options: dict[str, str]) -> ReporterSettings:
    key = f"{REPORTER.prefix}{name}"
    factory = options.pop(_FACTORY, None)
    if factory is None:
        raise ValueError(f"the metric reporter {name!r} has no factory: set {key}.{_FACTORY}")
    kind = _KINDS.get(factory)
    if kind is None:
        raise_unsupported(
            f"the metric reporter {factory}",
            kind=Gap.NEVER if factory == _JMX else Gap.NOT_YET,
            reason="JMX is an interface of the JVM" if factory == _JMX else "it is not written",
            instead=f"Use one of {', '.join(_KINDS)}.",
        )
    interval = parse_duration_ms(options.pop("interval", f"{_INTERVAL_MS} ms"))
    for option in sorted(options.keys() - _OPTIONS[kind]):
        note_recorded(f"The option {key}.{option}", "the reporter does not have it here")
    return ReporterSettings(name, kind, interval / 1000, options)
