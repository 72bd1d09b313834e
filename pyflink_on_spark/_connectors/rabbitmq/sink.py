"""The sink that writes to a queue."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._connectors.rabbitmq.broker import Broker, broker_errors
from pyflink_on_spark._connectors.rabbitmq.options import RMQWriting
from pyflink_on_spark._connectors.formats.written_types import check_written

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_log = logging.getLogger(__name__)
_MESSAGES_AT_ONCE = 1000
_ATTEMPTS = 4
_BETWEEN_SIGNS_OF_LIFE = 1000


class QueueSink(Sink):
    """Writes each element as a message, at least once.

    Args:
        writing: what it was told.
    """

    def __init__(self, writing: RMQWriting) -> None:
        self._writing = writing

    def with_input_type(self, type_info: Any) -> Sink:
        """Return itself; raise TypeError if the serializer cannot write such a stream."""
        check_written(self._writing.serializer, type_info)
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask, connected."""
        return QueueWriter(self._writing)


class QueueWriter(SinkWriter):
    """Writes some messages at a time, and waits until the broker has them.

    Args:
        writing: what the sink was told.
        pause: waits some seconds between two attempts.
    """

    def __init__(self, writing: RMQWriting, pause: Callable[[float], None] = time.sleep) -> None:
        self._serialize = writing.serializer._serializer()
        self._queue = writing.queue
        self._pause = pause
        self._next_sign = 0
        # In a transaction, since waiting for each message takes a round trip each.
        self._broker = Broker(
            writing.connection, writing.queue, lambda channel: channel.tx_select()
        )

    def write(self, elements: Iterator[Any]) -> None:
        bodies = (body for body in map(self._serialize, elements) if body is not None)
        while chunk := list(islice(bodies, _MESSAGES_AT_ONCE)):
            self._send(chunk)

    def advance_processing_time(self, now: int) -> None:
        """Give a sign of life, so that the broker does not end the connection."""
        if now >= self._next_sign:
            self._next_sign = now + _BETWEEN_SIGNS_OF_LIFE
            try:
                self._broker.listen(0)
            except broker_errors() as error:
                if not self._broker.is_lost(error):
                    raise self._broker.explained(error) from error
                # The next message finds out, and connects again.

    def close(self) -> None:
        self._broker.close()

    def _send(self, bodies: list[bytes]) -> None:
        """Send all messages or none; connect again if need be."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                publish = self._broker.channel.basic_publish
                for body in bodies:
                    publish("", self._queue, body)
                self._broker.channel.tx_commit()
            except broker_errors() as error:
                if not (self._broker.recovers and self._broker.is_lost(error)):
                    raise self._broker.explained(error) from error
                self._connect_again(attempt, error)
            else:
                return

    def _connect_again(self, attempt: int, error: Exception) -> None:
        _log.warning("%s; connecting again", self._broker.explained(error))
        for tried in range(attempt, _ATTEMPTS):
            if tried > attempt:
                self._pause(self._broker.recovery_interval / 1000)
            if self._broker.connect_again():
                return
        raise self._broker.explained(self._broker.failure or error)
