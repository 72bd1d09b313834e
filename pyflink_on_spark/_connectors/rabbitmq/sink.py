"""The sink that publishes to a queue of RabbitMQ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.formats.row_types import check_written
from pyflink_on_spark._connectors.rabbitmq.config import (
    RMQSinkConfig,
)
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark._connectors.rabbitmq.client import RabbitMqClient, broker_errors

_MESSAGES_PER_TRANSACTION = 1000


_ATTEMPTS = 4


_HEARTBEAT_INTERVAL = 1000


class QueueWriter(SinkWriter):
    """Publishes messages in transactions, and waits for the broker's confirmation.

    Args:
        config: the settings of the sink.
        pause: waits some seconds between two attempts to reconnect.
    """

    def __init__(self, config: RMQSinkConfig, pause: Callable[[float], None] = time.sleep) -> None:
        self._serialize = config.serializer._serializer()
        self._queue = config.queue
        self._pause = pause
        self._next_heartbeat = 0
        # In transactions, because a confirmation of each message takes a round trip.
        self._client = RabbitMqClient(
            config.connection, config.queue, lambda channel: channel.tx_select()
        )

    def write(self, elements: Iterator[object]) -> None:
        serialize = self._serialize
        bodies = (body for value in elements if (body := serialize(value)) is not None)
        while chunk := list(islice(bodies, _MESSAGES_PER_TRANSACTION)):
            self._publish(chunk)

    def advance_processing_time(self, now: int) -> None:
        """Answer heartbeats, so that the broker does not close the connection."""
        if now >= self._next_heartbeat:
            self._next_heartbeat = now + _HEARTBEAT_INTERVAL
            try:
                self._client.listen(0)
            except broker_errors() as error:
                if not self._client.is_lost(error):
                    raise self._client.explained(error) from error
                # The next message notices the loss too, and reconnects.

    def next_processing_time(self) -> int | None:
        """Return when the next heartbeat is due."""
        return self._next_heartbeat

    def close(self) -> None:
        self._client.close()

    def _publish(self, bodies: list[bytes]) -> None:
        """Publish all messages or none; reconnect if necessary."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                publish = self._client.channel.basic_publish
                for body in bodies:
                    publish("", self._queue, body)
                self._client.channel.tx_commit()
            except broker_errors() as error:
                if not (self._client.recovers and self._client.is_lost(error)):
                    raise self._client.explained(error) from error
                self._reconnect(attempt, error)
            else:
                return

    def _reconnect(self, attempt: int, error: Exception) -> None:
        self._client.lose(error)
        for tried in range(attempt, _ATTEMPTS):
            if tried > attempt:
                self._pause(self._client.recovery_interval / 1000)
            if self._client.reconnect():
                return
        raise self._client.explained(self._client.failure or error)


class QueueSink(Sink):
    """Publishes each element as a message, at least once.

    Args:
        config: the settings of the sink.
    """

    def __init__(self, config: RMQSinkConfig) -> None:
        self._config = config

    def with_input_type(self, type_info: TypeInformation | None) -> Sink:
        """Check that the schema can serialize the elements.

        Raises:
            TypeError: the schema cannot serialize the elements of such a stream.
        """
        check_written(self._config.serializer, type_info)
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        return QueueWriter(self._config)
