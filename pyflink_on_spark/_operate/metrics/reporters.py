"""The reporters of this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping

from pyflink_on_spark._operate.metrics import opentelemetry, prometheus, text_reporters
from pyflink_on_spark._operate.metrics.samples import Sample, samples_of
from pyflink_on_spark._operate.metrics.settings import (
    GATEWAY,
    LOG,
    OTEL,
    PROMETHEUS,
    ReporterSettings,
    reporters_of,
)
from pyflink_on_spark._operate.view.jobs import OperatedJobs

_log = logging.getLogger("pyflink_on_spark")


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
            yield from samples_of(job)

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
            return lambda: text_reporters.log_all(self.collect)
        if settings.kind == OTEL:
            return opentelemetry.otlp(settings, self.collect)
        return text_reporters.statsd(settings, self.collect)


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
