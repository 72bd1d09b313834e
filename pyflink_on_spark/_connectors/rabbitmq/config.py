"""The settings of a RabbitMQ source and of a RabbitMQ sink."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RMQConnection:
    """The connection to a broker: a URI, or a host, a port and credentials.

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


_CHECKS_PER_HEARTBEAT = 4


class HeartbeatConnection:
    """A connection of pika's, with a thread that answers heartbeats.

    Without the thread the broker would close the connection while a user's function takes minutes
    for an element. A connection of pika's is not thread-safe, so a lock guards all its uses.

    Args:
        connection: the connection of pika's.
        heartbeat: the interval of heartbeats in s; 0 for none.
        errors: the errors that pika raises.
        closed: the error to raise for a closed connection.
    """

    def __init__(
        self,
        connection: Any,
        heartbeat: float,
        errors: tuple[type[Exception], ...],
        closed: type[Exception],
    ) -> None:
        self._connection, self._errors, self._closed = connection, errors, closed
        self._lock = threading.RLock()
        self._ended = threading.Event()
        if heartbeat:
            seconds = heartbeat / _CHECKS_PER_HEARTBEAT
            threading.Thread(
                target=self._answer, args=(seconds,), name="rabbitmq-heartbeat", daemon=True
            ).start()

    def channel(self, prepare: Callable[[Any], None]) -> LockedChannel:
        """Return a new channel, after ``prepare`` was called with it."""
        with self._lock:
            channel = self._connection.channel()
            prepare(channel)
        return LockedChannel(channel, self._lock)

    def listen(self, seconds: float) -> None:
        """Process messages and heartbeats for some time."""
        with self._lock:
            # The thread may have noticed a loss. pika would raise ValueError for the connection.
            if not self._connection.is_open:
                raise self._closed("the connection is closed")
            self._connection.process_data_events(time_limit=seconds)

    def close(self) -> None:
        """Close the connection; a closed one stays closed."""
        self._ended.set()
        with self._lock, contextlib.suppress(*self._errors):
            self._connection.close()

    def _answer(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            with self._lock:
                if self._ended.is_set() or not self._connection.is_open:
                    return
                # The next user of the connection gets the error.
                with contextlib.suppress(*self._errors):
                    self._connection.process_data_events(time_limit=0)


class LockedChannel:
    """A channel that holds the lock of its connection while it is used.

    Args:
        channel: the channel of pika's.
        lock: the lock of the connection.
    """

    def __init__(self, channel: Any, lock: threading.RLock) -> None:
        self._channel, self._lock = channel, lock

    def basic_publish(self, exchange: str, queue: str, body: bytes) -> None:
        """Publish a message."""
        with self._lock:
            self._channel.basic_publish(exchange, queue, body)

    def basic_ack(self, tag: int, *, multiple: bool) -> None:
        """Acknowledge messages."""
        with self._lock:
            self._channel.basic_ack(tag, multiple=multiple)

    def tx_commit(self) -> None:
        """Commit a transaction, and wait for the broker's confirmation."""
        with self._lock:
            self._channel.tx_commit()
