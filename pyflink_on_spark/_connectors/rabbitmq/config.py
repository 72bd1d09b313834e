"""The settings of a RabbitMQ source and of a RabbitMQ sink."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RMQConnection:
    """How to connect to a broker: with a URI, or with a host, a port and credentials.

    None stands for the default of the client.

    Args:
        uri: ``amqp://<user>:<password>@<host>:<port>/<virtual host>``.
        host: the host of the broker.
        port: the port of the broker.
        virtual_host: the virtual host.
        user_name: the name of the user.
        password: the password of the user.
        network_recovery_interval: the time between two attempts to reconnect, in ms.
        automatic_recovery: whether to reconnect after the connection is lost.
        topology_recovery: whether to declare the queue again after a reconnect.
        connection_timeout: the time limit for a connection attempt, in ms.
        requested_channel_max: the largest number of channels of a connection.
        requested_frame_max: the largest size of a frame, in bytes.
        requested_heartbeat: the interval of heartbeats, in s.
        prefetch_count: the largest number of unacknowledged messages.
    """

    uri: str | None = field(default=None, repr=False)
    host: str | None = None
    port: int | None = None
    virtual_host: str | None = None
    user_name: str | None = None
    password: str | None = field(default=None, repr=False)
    network_recovery_interval: int | None = None
    automatic_recovery: bool | None = None
    topology_recovery: bool | None = None
    connection_timeout: int | None = None
    requested_channel_max: int | None = None
    requested_frame_max: int | None = None
    requested_heartbeat: int | None = None
    prefetch_count: int | None = None


@dataclass(frozen=True)
class RMQSourceConfig:
    """The settings of a RabbitMQ source.

    Args:
        connection: how to connect to the broker.
        queue: the name of the queue.
        use_correlation_id: whether each message has a unique correlation id. The source then
            recognises messages that the broker delivers again.
        deserializer: the deserialization schema of the messages.
    """

    connection: RMQConnection
    queue: str
    use_correlation_id: bool
    deserializer: Any


@dataclass(frozen=True)
class RMQSinkConfig:
    """The settings of a RabbitMQ sink.

    Args:
        connection: how to connect to the broker.
        queue: the name of the queue.
        serializer: the serialization schema of the messages.
    """

    connection: RMQConnection
    queue: str
    serializer: Any
