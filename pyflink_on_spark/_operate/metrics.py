"""Flink's metrics of a job, and the reporters of this process, such as Prometheus."""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
import socket
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._job.job import CheckpointRecord
from pyflink_on_spark._operate.view.jobs import TASK_MANAGER, JobTask, OperatedJob, OperatedJobs
from pyflink_on_spark._operate.view.server_record import port_range
from pyflink_on_spark._options.flink import REPORTER, REPORTERS
from pyflink_on_spark._options.option import parse_duration_ms
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.metrics import Measurement
from pyflink_on_spark._runtime.task.subtask_threads import TaskProgress
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.version import __version__

if TYPE_CHECKING:
    from types import ModuleType


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


_log = logging.getLogger("pyflink_on_spark")
_metrics_log = logging.getLogger("pyflink_on_spark.metrics")
_STATSD_PORT = 8125
_RESERVED = re.compile(r"[:|@\n]")
_LONGEST_DATAGRAM = 1400
_MOST_BITS = 1023
Collect = Callable[[], Iterable[Sample]]


class Reporters:
    """Starts each reporter once, for all jobs of this process.

    Args:
        jobs: the jobs.
    """

    def __init__(self, jobs: OperatedJobs) -> None:
        self._jobs = jobs
        self._started: dict[str, ReporterSettings] = {}
        self._lock = threading.Lock()

    def start(self, configuration: Mapping[str, str]) -> None:
        """Start the reporters of a configuration that do not run yet.

        Raises:
            EnvironmentSetupError: a port is taken, or a library is missing.
            UnsupportedFlinkFeature: a reporter needs Flink's JVM.
            ValueError: an option cannot be read.
        """
        with self._lock:
            for settings in reporters_of(configuration):
                running = self._started.get(settings.name)
                if running is None:
                    self._start(settings)
                    self._started[settings.name] = settings
                elif running != settings:
                    _log.warning(
                        "the metric reporter %r runs already, with the options of an earlier job",
                        settings.name,
                    )

    def collect(self) -> Iterator[Sample]:
        """Yield the metrics of the jobs that run."""
        for job in self._jobs.running():
            yield from map(reportable, samples_of(job))

    def _start(self, settings: ReporterSettings) -> None:
        if settings.kind == PROMETHEUS:
            serve(settings, self.collect)
        else:
            name = f"metric reporter {settings.name}"
            report = self._report(settings)
            threading.Thread(
                target=_repeat, args=(report, settings), name=name, daemon=True
            ).start()

    def _report(self, settings: ReporterSettings) -> Callable[[], None]:
        if settings.kind == GATEWAY:
            return push(settings, self.collect)
        if settings.kind == LOG:
            return lambda: log_all(self.collect)
        if settings.kind == OTEL:
            return otlp(settings, self.collect)
        return statsd(settings, self.collect)


def reportable(sample: Sample) -> Sample:
    """A metric as a reporter can send it, so that one of a user does not hold up all others.

    Names of groups may come from records, and a gauge returns what it likes.

    Args:
        sample: whose value becomes a text if no floating-point number is as large.
    """
    name, value, labels = sample.name, sample.value, sample.labels
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        value = f"a number of {value.bit_length()} bits"
    if not all(text.isascii() for text in (name, *labels.values())):
        name = _unicode(name)
        labels = {label: _unicode(text) for label, text in labels.items()}
    return replace(sample, name=name, value=value, labels=labels)


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _repeat(report: Callable[[], None], settings: ReporterSettings) -> None:
    """Report without end; a failure is logged once, until it works again."""
    failed, never = False, threading.Event()
    while not never.wait(settings.interval):
        try:
            report()
        except Exception as error:  # noqa: BLE001 - metrics must not end a job
            if not failed:
                _log.warning("the metric reporter %r cannot report: %s", settings.name, error)
            failed = True
        else:
            failed = False


def log_all(collect: Collect) -> None:
    """Log all metrics in one record, as Flink's slf4j reporter does."""
    lines = [f"{sample.identifier}: {sample.value}".replace("\n", "\\n") for sample in collect()]
    if lines:
        _metrics_log.info("Metrics report\n%s", "\n".join(lines))


def statsd(settings: ReporterSettings, collect: Collect) -> Callable[[], None]:
    """Return the function that sends the metrics to StatsD, as gauges.

    Raises:
        ValueError: the port is no number.
    """
    port = int(settings.options.get("port", _STATSD_PORT))
    target = settings.options.get("host", "localhost"), port

    def send() -> None:
        family, kind, protocol, _, address = socket.getaddrinfo(*target, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as connection:
            for datagram in datagrams(collect()):
                connection.sendto(datagram, address)

    return send


def datagrams(samples: Iterable[Sample]) -> Iterable[bytes]:
    """Yield the lines of metrics that are numbers, as many in a datagram as fit."""
    waiting = b""
    for sample in samples:
        if isinstance(sample.value, str):
            continue
        line = f"{_RESERVED.sub('-', sample.identifier)}:{sample.value}|g".encode()
        if waiting and len(waiting) + len(line) >= _LONGEST_DATAGRAM:
            yield waiting
            waiting = b""
        waiting = b"\n".join(filter(None, (waiting, line)))
    if waiting:
        yield waiting


_PORT = "9249"
_INVALID = re.compile("[^a-zA-Z0-9:_]")


class Families:
    """The collector of metrics for ``prometheus_client``: each is a gauge, as for Flink.

    Args:
        collect: returns the metrics as they are now.
    """

    def __init__(self, collect: Collect) -> None:
        self._collect = collect

    def collect(self) -> Iterator[object]:
        """Yield the metrics by name; texts are none for Prometheus."""
        from prometheus_client.core import GaugeMetricFamily

        families: dict[str, Any] = {}
        for sample in self._collect():
            if isinstance(sample.value, str):
                continue
            name = metric_name(sample)
            labels = sorted(sample.labels)
            key = f"{name} {labels}"
            if key not in families:
                families[key] = GaugeMetricFamily(name, f"{sample.name} (scope: {sample.scope})",
                                                  labels=labels)  # fmt: skip
            families[key].add_metric([sample.labels[label] for label in labels], sample.value)
        yield from families.values()


def metric_name(sample: Sample) -> str:
    """Return the name under which Flink's reporter has a metric."""
    return _INVALID.sub("_", f"flink_{sample.scope}_{sample.name}")


def serve(settings: ReporterSettings, collect: Collect) -> None:
    """Serve the page on the first free port of ``port``: a number, or a range such as 9249-9260.

    Raises:
        EnvironmentSetupError: no port is free, or prometheus_client is missing.
        ValueError: the port is not valid.
    """
    client = _client()
    registry = client.CollectorRegistry()
    registry.register(Families(collect))
    wished, key = settings.options.get("port", _PORT), f"metrics.reporter.{settings.name}.port"
    for port in port_range(wished, key):
        try:
            client.start_http_server(port, registry=registry)
        except OSError:
            continue
        return
    raise EnvironmentSetupError(
        f"the metric reporter {settings.name!r} finds no free port in {wished}: set "
        f"{key} to another one, or to a range such as 9249-9260"
    )


def push(settings: ReporterSettings, collect: Collect) -> Callable[[], None]:
    """Return the function that pushes the metrics to the gateway.

    Raises:
        EnvironmentSetupError: prometheus_client is missing.
        ValueError: there is no ``hostUrl``.
    """
    client = _client()
    options = settings.options
    url = options.get("hostUrl")
    if not url:
        raise ValueError(f"set metrics.reporter.{settings.name}.hostUrl to the gateway's URL")
    suffix = secrets.token_hex(16) if options.get("randomJobNameSuffix", "true") == "true" else ""
    job = f"{options.get('jobName', '')}{suffix}"
    pairs = (pair.partition("=") for pair in options.get("groupingKey", "").split(";") if pair)
    grouping = {key: value for key, _, value in pairs}
    registry = client.CollectorRegistry()
    registry.register(Families(collect))
    return lambda: client.push_to_gateway(url, job, registry, grouping)


def _client() -> ModuleType:
    try:
        import prometheus_client
    except ImportError as error:
        raise EnvironmentSetupError(
            "a reporter for Prometheus needs prometheus_client: pip install "
            "'pyflink_on_spark[metrics]'"
        ) from error
    return prometheus_client


_EXPORTERS = {
    "GRPC": (
        "opentelemetry.exporter.otlp.proto.grpc.metric_exporter",
        "opentelemetry-exporter-otlp-proto-grpc",
        "opentelemetry-grpc",
    ),
    "HTTP": (
        "opentelemetry.exporter.otlp.proto.http.metric_exporter",
        "opentelemetry-exporter-otlp-proto-http",
        "opentelemetry",
    ),
}
_DEFAULT = "gRPC"
_SCOPE = "pyflink_on_spark"


def otlp(settings: ReporterSettings, collect: Collect) -> Callable[[], None]:
    """Return the function that sends the metrics to a collector, as gauges.

    Raises:
        EnvironmentSetupError: a library is missing.
        ValueError: there is no ``exporter.endpoint``, or the protocol is unknown.
    """
    options, key = settings.options, f"metrics.reporter.{settings.name}"
    endpoint = options.get("exporter.endpoint")
    if not endpoint:
        raise ValueError(f"set {key}.exporter.endpoint to the URL of the collector")
    protocol = options.get("exporter.protocol", _DEFAULT)
    if protocol.upper() not in _EXPORTERS:
        raise ValueError(f"{key}.exporter.protocol is gRPC or HTTP, not {protocol!r}")
    exporter = _exporter(protocol.upper())(
        endpoint=endpoint,
        timeout=parse_duration_ms(options.get("exporter.timeout", "10 s")) / 1000,
    )
    resource = _resource(options)

    def send() -> None:
        metrics = _metrics(collect(), resource)
        if metrics is not None and exporter.export(metrics).name != "SUCCESS":
            raise ConnectionError(f"{endpoint} has not taken the metrics")

    return send


def _exporter(protocol: str) -> Any:
    module, package, extra = _EXPORTERS[protocol]
    purpose = f"Reporters for OpenTelemetry over {protocol}"
    try:
        return optional_package(module, package, purpose, extra).OTLPMetricExporter
    except ModuleNotFoundError as error:
        raise EnvironmentSetupError(str(error)) from error


def _resource(options: Mapping[str, str]) -> object:
    from opentelemetry.sdk.resources import Resource

    named = {name: options[name] for name in ("service.name", "service.version") if name in options}
    return Resource(named)


def _metrics(samples: Iterable[Sample], resource: Any) -> object:
    """Return samples as the exporter takes them; None if there are none."""
    from opentelemetry.sdk.metrics import export
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    now = time.time_ns()
    points: dict[str, list[export.NumberDataPoint]] = {}
    for sample in samples:
        if not isinstance(sample.value, str):
            name = f"flink.{sample.scope}.{sample.name}"
            point = export.NumberDataPoint(sample.labels, now, now, sample.value)
            points.setdefault(name, []).append(point)
    if not points:
        return None
    metrics = [export.Metric(name, "", "", export.Gauge(found)) for name, found in points.items()]
    scope = export.ScopeMetrics(InstrumentationScope(_SCOPE, __version__), metrics, "")
    return export.MetricsData([export.ResourceMetrics(resource, [scope], "")])
