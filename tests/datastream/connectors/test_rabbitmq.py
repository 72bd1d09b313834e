"""The arguments of RabbitMQ's connectors, accepted and refused."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import SimpleStringSchema
from pyflink_on_spark.datastream.connectors.rabbitmq import (
    RMQConnectionConfig,
    RMQSink,
    RMQSource,
)


def host_builder():
    builder = RMQConnectionConfig.Builder().set_host("host").set_port(5672)
    return builder.set_virtual_host("/").set_user_name("me").set_password("secret")


def test_connection_is_kept():
    builder = host_builder().set_network_recovery_interval(1).set_automatic_recovery(True)
    builder.set_topology_recovery_enabled(False).set_connection_timeout(2)
    builder.set_requested_channel_max(3).set_requested_frame_max(4).set_requested_heartbeat(5)
    config = builder.set_prefetch_count(6).build()
    assert config.get_host() == "host"
    assert config.get_port() == 5672
    assert config.get_virtual_host() == "/"
    assert config.get_user_name() == "me"
    assert config.get_password() == "secret"
    assert config.get_uri() is None
    assert config.get_network_recovery_interval() == 1
    assert config.is_automatic_recovery() is True
    assert config.is_topology_recovery() is False
    assert config.get_connection_timeout() == 2
    assert config.get_requested_channel_max() == 3
    assert config.get_requested_frame_max() == 4
    assert config.get_requested_heartbeat() == 5
    assert config._connection.prefetch_count == 6


def test_a_uri_is_enough():
    uri = "amqp://me:secret@host:5672/"
    config = RMQConnectionConfig.Builder().set_uri(uri).build()
    assert config.get_uri() == uri
    assert config.get_host() is None
    assert "secret" not in repr(config._connection)


@pytest.mark.parametrize("missing", ["host", "port", "virtual_host", "user_name", "password"])
def test_without_a_uri_all_is_needed(missing):
    builder = host_builder()
    object.__setattr__(builder._connection, missing, None)
    with pytest.raises(ValueError, match=f"{missing} is not set"):
        builder.build()


def test_settings_have_their_types():
    with pytest.raises(TypeError, match=r"port.* takes int, not str"):
        host_builder().set_port("5672")


def test_they_keep_what_they_were_told():
    config = host_builder().build()
    source = RMQSource(config, "queue", True, SimpleStringSchema())
    assert source._config.queue == "queue"
    assert source._config.use_correlation_id
    sink = RMQSink(config, "queue", SimpleStringSchema())
    assert sink._config.queue == "queue"
