"""The reporters of this process: Prometheus and its push gateway, OpenTelemetry, and others."""

from __future__ import annotations

import logging
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._operate.metrics.samples import (
    GATEWAY,
    LOG,
    OTEL,
    PROMETHEUS,
    ReporterSettings,
    Sample,
    reporters_of,
    samples_of,
)
from pyflink_on_spark._operate.view.jobs import OperatedJobs
from pyflink_on_spark._operate.view.server_record import port_range
from pyflink_on_spark._options.option import parse_duration_ms
from pyflink_on_spark.version import __version__

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


def _client() -> Any:
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


def _resource(options: Any) -> object:
    from opentelemetry.sdk.resources import Resource

    named = {name: options[name] for name in ("service.name", "service.version") if name in options}
    return Resource(named)


def _metrics(samples: Iterable[Sample], resource: Any) -> object:
    """Return samples as the exporter takes them; None if there are none."""
    from opentelemetry.sdk.metrics import export
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    now = time.time_ns()
    points: dict[str, list[Any]] = {}
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
