"""The reporters of this process."""

from __future__ import annotations

import logging
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from pyflink_on_spark._operate.metrics import opentelemetry, prometheus
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
            prometheus.serve(settings, self.collect)
        else:
            name = f"metric reporter {settings.name}"
            report = self._report(settings)
            threading.Thread(
                target=_repeat, args=(report, settings), name=name, daemon=True
            ).start()

    def _report(self, settings: ReporterSettings) -> Callable[[], None]:
        if settings.kind == GATEWAY:
            return prometheus.push(settings, self.collect)
        if settings.kind == LOG:
            return lambda: log_all(self.collect)
        if settings.kind == OTEL:
            return opentelemetry.otlp(settings, self.collect)
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
