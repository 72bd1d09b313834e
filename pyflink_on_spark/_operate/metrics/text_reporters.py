"""Metrics as lines: in the log, and for StatsD."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterable

from pyflink_on_spark._operate.metrics.samples import Sample
from pyflink_on_spark._operate.metrics.settings import ReporterSettings

_log = logging.getLogger("pyflink_on_spark.metrics")
_PORT = 8125
_RESERVED = re.compile(r"[:|@\n]")
_LONGEST_DATAGRAM = 1400
Collect = Callable[[], Iterable[Sample]]


def log_all(collect: Collect) -> None:
    """Log all metrics in one record, as Flink's slf4j reporter does."""
    lines = [f"{sample.identifier}: {sample.value}" for sample in collect()]
    if lines:
        _log.info("Metrics report\n%s", "\n".join(lines))


def statsd(settings: ReporterSettings, collect: Collect) -> Callable[[], None]:
    """Return the function that sends the metrics to StatsD, as gauges.

    Raises:
        ValueError: the port is no number.
    """
    target = settings.options.get("host", "localhost"), int(settings.options.get("port", _PORT))

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
