"""Queues of RabbitMQ as sources and sinks."""

from __future__ import annotations

from dataclasses import replace

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.rabbitmq import (
    QueueSink,
    QueueSource,
    RMQConnection,
    RMQSinkConfig,
    RMQSourceConfig,
)
from pyflink_on_spark.common import DeserializationSchema, SerializationSchema
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.functions import SinkFunction, SourceFunction

__all__ = ["RMQConnectionConfig", "RMQSource", "RMQSink"]


class RMQConnectionConfig:
    """How to connect to a broker; made with ``Builder()``.

    Args:
        j_rmq_connection_config: made by the builder.

    Example::

        connection = (
            RMQConnectionConfig.Builder()
            .set_host("broker").set_port(5672).set_virtual_host("/")
            .set_user_name("guest").set_password("guest")
            .build()
        )
        lines = env.add_source(RMQSource(connection, "in", True, SimpleStringSchema()))
        lines.add_sink(RMQSink(connection, "out", SimpleStringSchema()))
    """

    def __init__(self, j_rmq_connection_config):
        call = "RMQConnectionConfig(j_rmq_connection_config)"
        self._connection = own_handle(j_rmq_connection_config, RMQConnection, call)

    def get_host(self) -> str | None:
        """Return the host."""
        return self._connection.host

    def get_port(self) -> int | None:
        """Return the port."""
        return self._connection.port

    def get_virtual_host(self) -> str | None:
        """Return the virtual host."""
        return self._connection.virtual_host

    def get_user_name(self) -> str | None:
        """Return the name of the user."""
        return self._connection.user_name

    def get_password(self) -> str | None:
        """Return the password."""
        return self._connection.password

    def get_uri(self) -> str | None:
        """Return the URI."""
        return self._connection.uri

    def get_network_recovery_interval(self) -> int | None:
        """Return the time between two attempts to reconnect, in ms."""
        return self._connection.network_recovery_interval

    def is_automatic_recovery(self) -> bool | None:
        """Return whether the client reconnects after a loss."""
        return self._connection.automatic_recovery

    def is_topology_recovery(self) -> bool | None:
        """Return whether the client declares the queue again after a reconnect."""
        return self._connection.topology_recovery

    def get_connection_timeout(self) -> int | None:
        """Return the time limit for a connection attempt, in ms."""
        return self._connection.connection_timeout

    def get_requested_channel_max(self) -> int | None:
        """Return the largest number of channels of a connection."""
        return self._connection.requested_channel_max

    def get_requested_frame_max(self) -> int | None:
        """Return the largest size of a frame, in bytes."""
        return self._connection.requested_frame_max

    def get_requested_heartbeat(self) -> int | None:
        """Return the interval of heartbeats, in s."""
        return self._connection.requested_heartbeat

    class Builder:
        """Configures a connection: with a URI, or with host, port, virtual host and user."""

        def __init__(self):
            self._connection = RMQConnection()

        def set_port(self, port: int) -> RMQConnectionConfig.Builder:
            """Set the port."""
            return self._with(int, port=port)

        def set_host(self, host: str) -> RMQConnectionConfig.Builder:
            """Set the host."""
            return self._with(str, host=host)

        def set_virtual_host(self, vhost: str) -> RMQConnectionConfig.Builder:
            """Set the virtual host."""
            return self._with(str, virtual_host=vhost)

        def set_user_name(self, user_name: str) -> RMQConnectionConfig.Builder:
            """Set the name of the user."""
            return self._with(str, user_name=user_name)

        def set_password(self, password: str) -> RMQConnectionConfig.Builder:
            """Set the password."""
            return self._with(str, password=password)

        def set_uri(self, uri: str) -> RMQConnectionConfig.Builder:
            """Set the URI: ``amqp://<user>:<password>@<host>:<port>/<virtual host>``."""
            return self._with(str, uri=uri)

        def set_topology_recovery_enabled(
            self, topology_recovery_enabled: bool
        ) -> RMQConnectionConfig.Builder:
            """Set whether the client declares the queue again after a reconnect."""
            return self._with(bool, topology_recovery=topology_recovery_enabled)

        def set_requested_heartbeat(self, requested_heartbeat: int) -> RMQConnectionConfig.Builder:
            """Set the interval of heartbeats, in s."""
            return self._with(int, requested_heartbeat=requested_heartbeat)

        def set_requested_frame_max(self, requested_frame_max: int) -> RMQConnectionConfig.Builder:
            """Set the largest size of a frame, in bytes."""
            return self._with(int, requested_frame_max=requested_frame_max)

        def set_requested_channel_max(
            self, requested_channel_max: int
        ) -> RMQConnectionConfig.Builder:
            """Set the largest number of channels of a connection."""
            return self._with(int, requested_channel_max=requested_channel_max)

        def set_network_recovery_interval(
            self, network_recovery_interval: int
        ) -> RMQConnectionConfig.Builder:
            """Set the time between two attempts to reconnect, in ms."""
            return self._with(int, network_recovery_interval=network_recovery_interval)

        def set_connection_timeout(self, connection_timeout: int) -> RMQConnectionConfig.Builder:
            """Set the time limit for a connection attempt, in ms."""
            return self._with(int, connection_timeout=connection_timeout)

        def set_automatic_recovery(self, automatic_recovery: bool) -> RMQConnectionConfig.Builder:
            """Set whether the client reconnects after a loss."""
            return self._with(bool, automatic_recovery=automatic_recovery)

        def set_prefetch_count(self, prefetch_count: int) -> RMQConnectionConfig.Builder:
            """Set the largest number of unacknowledged messages."""
            return self._with(int, prefetch_count=prefetch_count)

        def build(self) -> RMQConnectionConfig:
            """Return the settings.

            Raises:
                ValueError: there is no URI, and one of the parts is missing.
            """
            if self._connection.uri is None:
                for name in ("host", "port", "virtual_host", "user_name", "password"):
                    known = getattr(self._connection, name) is not None
                    require(known, f"{name} is not set, and there is no uri")
            return RMQConnectionConfig(self._connection)

        def _with(self, kind: type, **change: object) -> RMQConnectionConfig.Builder:
            for name, value in change.items():
                argument(value, kind, f"the setting {name} of RMQConnectionConfig.Builder")
            self._connection = replace(self._connection, **change)
            return self


class RMQSource(SourceFunction):
    """Reads a queue.

    Args:
        connection_config: how to connect to the broker.
        queue_name: the name of the queue.
        use_correlation_id: whether each message has a unique correlation id. With checkpoints the
            source then emits each message once, even if the broker delivers it again.
        deserialization_schema: the deserializer of the messages.

    On Spark: needs pika: ``pip install 'pyflink_on_spark[rabbitmq]'``. Without checkpoints the
    source acknowledges messages after it has emitted them; Flink does not wait for that.
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        use_correlation_id: bool,
        deserialization_schema: DeserializationSchema,
    ):
        call = "RMQSource(connection_config, queue_name, use_correlation_id, ...)"
        self._config = RMQSourceConfig(
            argument(connection_config, RMQConnectionConfig, call)._connection,
            argument(queue_name, str, call),
            argument(use_correlation_id, bool, call),
            argument(deserialization_schema, DeserializationSchema, call),
        )
        super().__init__(source_func=self._config)

    @property
    def _source(self) -> QueueSource:
        return QueueSource(self._config)


class RMQSink(SinkFunction):
    """Writes to a queue.

    Args:
        connection_config: how to connect to the broker.
        queue_name: the name of the queue.
        serialization_schema: the serializer of the messages.

    On Spark: needs pika: ``pip install 'pyflink_on_spark[rabbitmq]'``. The sink waits until the
    broker has confirmed the messages, so each message is delivered at least once.
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        serialization_schema: SerializationSchema,
    ):
        call = "RMQSink(connection_config, queue_name, serialization_schema)"
        self._config = RMQSinkConfig(
            argument(connection_config, RMQConnectionConfig, call)._connection,
            argument(queue_name, str, call),
            argument(serialization_schema, SerializationSchema, call),
        )
        super().__init__(sink_func=self._config)

    @property
    def _sink(self) -> QueueSink:
        return QueueSink(self._config)


__getattr__ = missing_name(__name__)
