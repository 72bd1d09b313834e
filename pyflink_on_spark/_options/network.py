"""The options that say how the driver and the hosts watch each other."""

from __future__ import annotations

from pyflink_on_spark._options.kinds import at_least, duration
from pyflink_on_spark._options.option import works

HEARTBEAT_INTERVAL = duration(
    "heartbeat.interval",
    10_000,
    effect=works("how often the driver asks each host of a streaming job whether it is alive"),
    check=at_least(1, "The heartbeat interval must be positive."),
)
HEARTBEAT_TIMEOUT = duration(
    "heartbeat.timeout",
    50_000,
    effect=works(
        "after which silence a host, or the driver, counts as lost; a slow function is no silence, "
        "unless it is native code that keeps Python's interpreter lock"
    ),
    check=at_least(1, "The heartbeat timeout must be positive."),
)
