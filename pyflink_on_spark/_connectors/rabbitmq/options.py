"""What a RabbitMQ source or sink can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RMQConnection:
    """How a broker is reached: with a URI, or with a host and what follows it.

    Args:
        uri: ``amqp://<user>:<password>@<host>:<port>/<virtual host>``.
        host: the broker's host.
        port: its port.
        virtual_host: the part of it.
        user_name: who connects.
        password: with what.
        network_recovery_interval: the time between two tries to connect again, in ms.
        automatic_recovery: whether a lost connection is made again.
        topology_recovery: whether the queue is then declared again, too.
        connection_timeout: how long a connection may take, in ms.
        requested_channel_max: how many channels a connection may have.
        requested_frame_max: how many bytes a frame may have.
        requested_heartbeat: the time between two signs of life, in s.
        prefetch_count: how many messages may be under way without an acknowledgement.
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
class RMQReading:
    """What a RabbitMQ source was told.

    Args:
        connection: the broker.
        queue: the queue.
        use_correlation_id: whether messages have an id of their own, by which a message that comes
            again is recognised.
        deserializer: what makes elements of messages.
    """

    connection: RMQConnection
    queue: str
    use_correlation_id: bool
    deserializer: Any


@dataclass(frozen=True)
class RMQWriting:
    """What a RabbitMQ sink was told.

    Args:
        connection: the broker.
        queue: the queue.
        serializer: what makes messages of elements.
    """

    connection: RMQConnection
    queue: str
    serializer: Any
