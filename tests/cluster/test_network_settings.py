"""The network settings in a configuration; without Spark."""

from __future__ import annotations

import pytest

from pyflink_on_spark._cluster.transport.handshake import NetworkSettings


def test_defaults():
    assert NetworkSettings.of({}) == NetworkSettings(10.0, 50.0, (0,), (0,))


def test_settings():
    settings = {
        "heartbeat.interval": "500 ms",
        "heartbeat.timeout": "2 s",
        "pyflink-on-spark.driver-ports": "50100-50101",
        "pyflink-on-spark.host-ports": "50200",
    }
    assert NetworkSettings.of(settings) == NetworkSettings(0.5, 2.0, (50100, 50101), (50200,))


def test_a_timeout_that_is_too_short():
    with pytest.raises(ValueError, match=r"timeout \(9000 ms\) must be larger than .*10000 ms"):
        NetworkSettings.of({"heartbeat.timeout": "9 s"})
