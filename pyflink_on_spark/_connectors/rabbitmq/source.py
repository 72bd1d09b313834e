"""The source that reads a queue."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._connectors.rabbitmq.broker import (
    Broker,
    RabbitMqError,
    broker_errors,
)
from pyflink_on_spark._connectors.rabbitmq.options import RMQReading
from pyflink_on_spark._connectors.rabbitmq.pending import HandedOn, PendingMessages
from pyflink_on_spark._connectors.formats.corrupt import locating

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_log = logging.getLogger(__name__)
_SECONDS_TO_WAIT = 0.01


class QueueSource(Source):
    """All messages of a queue; its subtasks share them.

    Args:
        reading: what it was told.
    """

    bounded = False

    def __init__(self, reading: RMQReading) -> None:
        self._reading = reading
        self.produced_type = reading.deserializer._produced_type()

    def splits(self, parallelism: int) -> list[Any]:
        """Return one for each subtask: the broker deals out the messages."""
        return list(range(parallelism))

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return what consumes a share of the messages."""
        return QueueReader(self._reading, restored, context)


class QueueReader(SourceReader):
    """One subtask's consumer.

    Messages are acknowledged once a checkpoint has them, or, without checkpoints, when they have
    been handed on.

    With ids each counts once. So when the connection is lost while the broker counts messages as
    under way that were handed on, the attempt fails: the broker may give them to another subtask,
    which knows their ids only after a restart.

    Args:
        reading: what the source was told.
        restored: the ids that all subtasks had handed on, or None. The broker may give a message
            to any subtask, so each needs all of them.
        context: the subtask's.
    """

    def __init__(
        self, reading: RMQReading, restored: Sequence[HandedOn] | None, context: OperatorContext
    ) -> None:
        self._reading = reading
        self._deserialize = reading.deserializer._deserializer()
        self._clock = context.clock
        self._checkpointed = context.checkpointed
        # As in Flink, ids are of no use without checkpoints.
        self._use_ids = reading.use_correlation_id and context.checkpointed
        ids = frozenset[str]().union(*(handed_on.ids for handed_on in restored or ()))
        self._pending = PendingMessages(ids)
        self._saved = HandedOn(ids)
        self._waiting: deque[tuple[Any, Any, bytes]] = deque()
        self._cancelled = False
        self._next_try: int | None = None
        self._broker = Broker(reading.connection, reading.queue, self._begin)
        self._all_came = self._clock.now() + self._broker.notices_loss_after

    def poll(self) -> Bundle | None:
        """Return the next messages' elements."""
        if self._next_try is not None and not self._connected_again(self._next_try):
            return None
        try:
            if not self._checkpointed:
                self._acknowledge(0)
            if len(self._waiting) < self.limit:
                self._broker.listen(0 if self._waiting else _SECONDS_TO_WAIT)
        except broker_errors() as error:
            self._disconnected(error)
            return None
        if self._cancelled:
            raise RabbitMqError(
                f"RabbitMQ at {self._broker.place}: the queue {self._reading.queue!r} was deleted"
            )
        values = self._take()
        if not self._checkpointed and values is not None:
            self._pending.save(0)
        return None if not values else Bundle(values)

    def snapshot(self) -> list[HandedOn]:
        """Return the ids of messages that may come again."""
        return [self._saved]

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        """Note which messages the checkpoint has."""
        self._check_connection()
        self._saved = self._pending.save(checkpoint_id)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Acknowledge the messages that the checkpoint has."""
        try:
            self._acknowledge(checkpoint_id)
        except broker_errors() as error:
            self._disconnected(error)

    def close(self) -> None:
        """Disconnect; the broker gives messages that are not acknowledged to others."""
        self._broker.close()

    def _begin(self, channel: Any) -> None:
        """Ask for messages on a new channel."""
        prefetch = self._reading.connection.prefetch_count
        if prefetch is not None:
            channel.basic_qos(prefetch_count=prefetch, global_qos=True)
        elif not self._checkpointed:
            channel.basic_qos(prefetch_count=2 * BUNDLE_SIZE, global_qos=True)
        if self._use_ids:
            channel.tx_select()
        channel.add_on_cancel_callback(self._cancel)
        channel.basic_consume(self._reading.queue, self._receive)

    def _receive(self, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        self._waiting.append((method, properties, body))

    def _cancel(self, method: Any) -> None:
        self._cancelled = True

    def _take(self) -> list[Any] | None:
        """Return the elements of messages that wait; None if there are no messages."""
        if not self._waiting:
            return None
        values = []
        waiting, note, use_id = self._waiting, self._pending.note, self._use_ids
        for _ in range(min(len(waiting), self.limit)):
            method, properties, body = waiting[0]
            if not use_id or self._pending.is_new(self._identity(properties)):
                with locating(partial(self._place, method.delivery_tag)):
                    value = self._deserialize(body)
                if value is not None:
                    values.append(value)
            waiting.popleft()
            note(method.delivery_tag, redelivered=method.redelivered)
        return values

    def _identity(self, properties: Any) -> str:
        identity: str | None = properties.correlation_id
        if identity is None:
            raise RabbitMqError(
                f"a message of the queue {self._reading.queue!r} has no correlation id, and "
                "RMQSource was made with use_correlation_id=True"
            )
        return identity

    def _place(self, tag: int) -> str:
        return f"message {tag} of this connection from the queue {self._reading.queue!r}"

    def _acknowledge(self, checkpoint_id: int) -> None:
        """Tell the broker what is done with; with ids, wait until it knows."""
        tag = self._pending.tag_of(checkpoint_id)
        if tag is not None:
            self._broker.channel.basic_ack(tag, multiple=True)
            if self._use_ids:
                self._broker.channel.tx_commit()
        all_came = self._clock.now() >= self._all_came
        self._pending.complete(checkpoint_id, all_came=all_came)

    def _check_connection(self) -> None:
        """Make sure that the broker has given nothing that is under way here to others by now.

        They would not have known the ids, and the checkpoint would have the messages twice.
        """
        if self._use_ids and self._pending.unacknowledged:
            try:
                self._broker.channel.tx_commit()
            except broker_errors() as error:
                raise self._broker.explained(error) from error

    def _disconnected(self, error: Exception) -> None:
        """Go on later if the connection is gone; raise what else is wrong."""
        recovers = self._broker.recovers and not self._pending.unacknowledged
        if not (recovers and self._broker.is_lost(error)):
            raise self._broker.explained(error) from error
        _log.warning("%s; connecting again", self._broker.explained(error))
        self._broker.close()
        self._waiting.clear()
        self._pending.lost()
        self._next_try = self._clock.now()

    def _connected_again(self, next_try: int) -> bool:
        now = self._clock.now()
        if now < next_try:
            return False
        connected = self._broker.connect_again()
        self._next_try = None if connected else now + self._broker.recovery_interval
        return connected
