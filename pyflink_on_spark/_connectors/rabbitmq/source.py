"""The source that reads a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.file_format import locating
from pyflink_on_spark._connectors.rabbitmq.client import (
    RabbitMqClient,
    RabbitMqError,
    broker_errors,
)
from pyflink_on_spark._connectors.rabbitmq.config import RMQSourceConfig
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


@dataclass(frozen=True)
class EmittedIds:
    """The content of a checkpoint for one subtask.

    Args:
        ids: the correlation ids of emitted messages that the broker may deliver again.
    """

    ids: frozenset[str]


class PendingMessages:
    """Keeps delivery tags until their checkpoint is complete, and ids until they cannot return.

    After a restart the broker delivers unacknowledged messages again, before all new messages of
    the queue. The source drops them by their ids, and acknowledges them like others. An id from
    before the restart is forgotten when its message has returned, or when a new message has
    arrived.

    Args:
        restored: the ids of the restored checkpoint.
    """

    def __init__(self, restored: Iterable[str] = ()) -> None:
        self._returning = set(restored)
        self._emitted: set[str] = set()
        self._last_tag = self._acknowledged = 0
        self._saved: dict[int, tuple[int, frozenset[str], bool]] = {}
        self._saw_new = False

    def is_new(self, identity: str) -> bool:
        """Note a message's id; return whether no message with this id was emitted before."""
        if identity in self._emitted:
            return False
        self._emitted.add(identity)
        if identity in self._returning:
            self._returning.remove(identity)
            return False
        return True

    def note(self, tag: int, *, redelivered: bool) -> None:
        """Note a message: its delivery tag, and whether the broker has delivered it before."""
        self._last_tag = tag
        self._saw_new = self._saw_new or not redelivered

    def save(self, checkpoint_id: int) -> EmittedIds:
        """Return the content of the checkpoint."""
        ids = frozenset(self._emitted)
        self._saved[checkpoint_id] = self._last_tag, ids, self._saw_new
        return EmittedIds(ids | self._returning)

    def tag_of(self, checkpoint_id: int) -> int | None:
        """Return the last delivery tag of a checkpoint; None if it is acknowledged already."""
        tag = self._saved[checkpoint_id][0] if checkpoint_id in self._saved else 0
        return tag if tag > self._acknowledged else None

    def complete(self, checkpoint_id: int, *, all_returned: bool = True) -> None:
        """Forget the messages of a checkpoint, after they were acknowledged.

        Args:
            checkpoint_id: the complete checkpoint.
            all_returned: whether the broker has noticed by now that the connections of the
                previous attempt are lost, so that their messages are in the queue again.
        """
        saved = self._saved.get(checkpoint_id)
        for number in [number for number in self._saved if number <= checkpoint_id]:
            del self._saved[number]
        if saved is None:
            return
        tag, ids, saw_new = saved
        self._emitted -= ids
        if saw_new and all_returned:
            self._returning.clear()
        self._acknowledged = max(tag, self._acknowledged)

    @property
    def unacknowledged(self) -> bool:
        """True if emitted messages with ids are not acknowledged yet."""
        return bool(self._emitted)

    def lost(self) -> None:
        """Forget the delivery tags, which belong to a connection that is lost."""
        self._saved.clear()
        self._last_tag = self._acknowledged = 0
        self._saw_new = False


_SECONDS_TO_WAIT = 0.01


class QueueReader(SourceReader):
    """Consumes a queue in one subtask.

    The reader acknowledges messages when a checkpoint that contains them is complete, or, without
    checkpoints, after it has emitted them.

    With correlation ids each message is emitted once. If the connection is lost while emitted
    messages are unacknowledged, the attempt fails: the broker may deliver them to another subtask,
    which gets to know their ids only through a restart.

    Args:
        config: the settings of the source.
        restored: the emitted ids of all subtasks, or None. The broker may deliver a message to any
            subtask, so each subtask needs all ids.
        context: the context of the subtask.
    """

    def __init__(
        self,
        config: RMQSourceConfig,
        restored: Sequence[EmittedIds] | None,
        context: OperatorContext,
    ) -> None:
        self._config = config
        self._deserialize = config.deserializer._deserializer()
        self._clock = context.clock
        self._checkpointed = context.checkpointed
        # As in Flink, ids have no effect without checkpoints.
        self._use_ids = config.use_correlation_id and context.checkpointed
        ids = frozenset[str]().union(*(emitted.ids for emitted in restored or ()))
        self._pending = PendingMessages(ids)
        self._saved = EmittedIds(ids)
        self._waiting: deque[tuple[Any, Any, bytes]] = deque()
        self._cancelled = False
        self._next_attempt: int | None = None
        self._client = RabbitMqClient(config.connection, config.queue, self._begin)
        self._all_returned = self._clock.now() + self._client.notices_loss_after

    def poll(self) -> Bundle | None:
        if self._next_attempt is not None and not self._reconnected(self._next_attempt):
            return None
        try:
            if not self._checkpointed:
                self._acknowledge(0)
            if len(self._waiting) < self.limit:
                self._client.listen(0 if self._waiting else _SECONDS_TO_WAIT)
        except broker_errors() as error:
            self._disconnected(error)
            return None
        if self._cancelled:
            raise RabbitMqError(
                f"RabbitMQ at {self._client.place}: the queue {self._config.queue!r} was deleted"
            )
        values = self._take()
        if not self._checkpointed and values is not None:
            self._pending.save(0)
        return None if not values else Bundle(values)

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        self._check_connection()
        self._saved = self._pending.save(checkpoint_id)

    def snapshot(self) -> list[EmittedIds]:
        """Return the ids of messages that the broker may deliver again."""
        return [self._saved]

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Acknowledge the messages of the checkpoint."""
        try:
            self._acknowledge(checkpoint_id)
        except broker_errors() as error:
            self._disconnected(error)

    def close(self) -> None:
        """Disconnect; the broker delivers unacknowledged messages to other consumers."""
        self._client.close()

    def _begin(self, channel: Any) -> None:
        """Start to consume on a new channel."""
        prefetch = self._config.connection.prefetch_count
        if prefetch is not None:
            channel.basic_qos(prefetch_count=prefetch, global_qos=True)
        elif not self._checkpointed:
            channel.basic_qos(prefetch_count=2 * BUNDLE_SIZE, global_qos=True)
        if self._use_ids:
            channel.tx_select()
        channel.add_on_cancel_callback(self._cancel)
        channel.basic_consume(self._config.queue, self._receive)

    def _receive(self, channel: object, method: object, properties: object, body: bytes) -> None:
        self._waiting.append((method, properties, body))

    def _cancel(self, method: object) -> None:
        self._cancelled = True

    def _take(self) -> list[object] | None:
        """Return the elements of waiting messages; None if no message waits."""
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
                f"a message of the queue {self._config.queue!r} has no correlation id, and "
                "RMQSource was made with use_correlation_id=True"
            )
        return identity

    def _place(self, tag: int) -> str:
        return f"message {tag} of this connection from the queue {self._config.queue!r}"

    def _acknowledge(self, checkpoint_id: int) -> None:
        """Acknowledge the messages of a checkpoint; with ids, wait for the confirmation."""
        tag = self._pending.tag_of(checkpoint_id)
        if tag is not None:
            self._client.channel.basic_ack(tag, multiple=True)
            if self._use_ids:
                self._client.channel.tx_commit()
        all_returned = self._clock.now() >= self._all_returned
        self._pending.complete(checkpoint_id, all_returned=all_returned)

    def _check_connection(self) -> None:
        """Check that the broker has not delivered emitted messages to other subtasks by now.

        Those subtasks would not know the ids, and the checkpoint would contain the messages twice.
        """
        if self._use_ids and self._pending.unacknowledged:
            try:
                self._client.channel.tx_commit()
            except broker_errors() as error:
                raise self._client.explained(error) from error

    def _disconnected(self, error: Exception) -> None:
        """Reconnect later if the connection is lost; raise all other errors."""
        recovers = self._client.recovers and not self._pending.unacknowledged
        if not (recovers and self._client.is_lost(error)):
            raise self._client.explained(error) from error
        self._client.lose(error)
        self._waiting.clear()
        self._pending.lost()
        self._next_attempt = self._clock.now()

    def _reconnected(self, next_attempt: int) -> bool:
        now = self._clock.now()
        if now < next_attempt:
            return False
        connected = self._client.reconnect()
        self._next_attempt = None if connected else now + self._client.recovery_interval
        return connected


class QueueSource(Source):
    """Reads a queue; the broker distributes the messages over the subtasks.

    Args:
        config: the settings of the source.
    """

    bounded = False

    def __init__(self, config: RMQSourceConfig) -> None:
        self._config = config
        self.produced_type = config.deserializer._produced_type()

    def splits(self, parallelism: int) -> list[object]:
        """Return one split for each subtask, without content."""
        return list(range(parallelism))

    def reader(
        self, splits: Sequence[object], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        return QueueReader(self._config, restored, context)
