"""Metrics for OpenTelemetry collectors, over OTLP."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._operate.metrics.samples import ReporterSettings, Sample
from pyflink_on_spark._options.option_text import parse_duration_ms
from pyflink_on_spark.version import __version__

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
Collect = Callable[[], Iterable[Sample]]


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
