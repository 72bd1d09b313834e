"""Metrics for Prometheus: a page that it reads, and the push gateway."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._operate.metrics.samples import ReporterSettings, Sample
from pyflink_on_spark._operate.view.server_record import port_range

_PORT = "9249"
_INVALID = re.compile("[^a-zA-Z0-9:_]")
Collect = Callable[[], Iterable[Sample]]


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
