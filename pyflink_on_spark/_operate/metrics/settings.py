"""The reporters in a configuration, by Flink's keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._options.operation import REPORTER, REPORTERS
from pyflink_on_spark._options.option_text import parse_duration_ms

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
_JMX = f"{_PACKAGE}jmx.JMXReporterFactory"


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
