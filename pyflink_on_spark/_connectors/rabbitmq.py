"""Queues of RabbitMQ as sources and sinks, with pika."""

from __future__ import annotations

import contextlib
import logging
import math
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.formats.file_format import locating
from pyflink_on_spark._connectors.formats.written_types import check_written
from pyflink_on_spark._connectors.reachability import Reachability
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter, Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle

if TYPE_CHECKING:
    from types import ModuleType

    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


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


_pika_log = logging.getLogger("pika")
_RECOVERY_INTERVAL = 5000
_CONNECTION_TIMEOUT = 60_000
_HEARTBEAT = 60


class RabbitMqError(PyFlinkOnSparkError, RuntimeError):
    """A broker cannot be reached, or refuses a request."""


def pika() -> ModuleType:
    """Return the module pika.

    Raises:
        ModuleNotFoundError: the package is not installed. The message says how to install it.
    """
    module = optional_package("pika", "pika", "RabbitMQ's connectors", "rabbitmq")
    if _pika_log.level == logging.NOTSET:
        # pika logs each failed attempt with several tracebacks. The errors say the same.
        _pika_log.setLevel(logging.CRITICAL)
    return module


def broker_errors() -> tuple[type[Exception], ...]:
    """Return the errors that pika raises: its own, and those of sockets, names and certificates."""
    # The error of a connection attempt that times out is not an AMQPError.
    workflow = optional_package(
        "pika.adapters.utils.connection_workflow", "pika", "RabbitMQ's connectors", "rabbitmq"
    )
    return pika().exceptions.AMQPError, workflow.AMQPConnectorException, OSError


class RabbitMqClient:
    """One connection with one channel, on which a queue is declared.

    Args:
        options: how to connect to the broker.
        queue: the name of the queue. The client declares it durable, not exclusive and not
            auto-delete, as Flink does.
        prepare: called with each new channel, before the channel is used.

    Raises:
        RabbitMqError: the broker cannot be reached, or the queue cannot be declared.
    """

    def __init__(self, options: RMQConnection, queue: str, prepare: Callable[[Any], None]) -> None:
        self._options, self._queue, self._prepare = options, queue, prepare
        self._parameters = _parameters(options)
        self.place = f"{self._parameters.host}:{self._parameters.port}"
        self._reachability = Reachability(f"RabbitMQ at {self.place}")
        self.recovery_interval = options.network_recovery_interval or _RECOVERY_INTERVAL
        self.failure: Exception | None = None
        """Why the latest attempt to reconnect failed."""
        self._connection: HeartbeatConnection | None = None
        self.channel: Any = None
        try:
            self._connect(declare=True)
        except broker_errors() as error:
            raise self.explained(error) from error

    @property
    def recovers(self) -> bool:
        """True if the client reconnects after a lost connection."""
        return self._options.automatic_recovery is not False

    def lose(self, error: Exception) -> None:
        """Close the connection after an error, and report that the broker is lost."""
        self._reachability.lost(_innermost(error))
        self._disconnect()

    def reconnect(self) -> bool:
        """Try to reconnect; return whether the client is connected.

        Raises:
            RabbitMqError: the broker answers, but refuses.
        """
        self._disconnect()
        try:
            self._connect(declare=self._options.topology_recovery is not False)
        except broker_errors() as error:
            if self.is_lost(error):
                self.failure = error
                return False
            raise self.explained(error) from error
        self._reachability.found()
        return True

    @property
    def notices_loss_after(self) -> float:
        """The longest time (ms) until the broker notices that a connection is lost.

        The broker waits for two heartbeats; without heartbeats it never notices.
        """
        return 2000 * self._parameters.heartbeat or math.inf

    @staticmethod
    def is_lost(error: Exception) -> bool:
        """True for an error of a lost connection, as opposed to a refusal by the broker."""
        errors = pika().exceptions
        refused = (
            errors.ProbableAuthenticationError,
            errors.ProbableAccessDeniedError,
            errors.AuthenticationError,
            ssl.SSLCertVerificationError,
        )
        lost = (errors.AMQPConnectionError, errors.ChannelWrongStateError, *broker_errors()[1:])
        return isinstance(error, lost) and not isinstance(error, refused)

    def listen(self, seconds: float) -> None:
        """Process messages and heartbeats for some time."""
        if self._connection is None:
            raise pika().exceptions.ConnectionWrongStateError("the connection is closed")
        self._connection.listen(seconds)

    def explained(self, error: Exception) -> RabbitMqError:
        """Return the error to raise for an error of pika's."""
        errors = pika().exceptions
        why = _innermost(error)
        if isinstance(error, errors.ProbableAuthenticationError | errors.AuthenticationError):
            why = "it refuses the user name or the password"
        elif isinstance(error, errors.ProbableAccessDeniedError):
            why = f"there is no virtual host {self._parameters.virtual_host!r} for this user"
        elif isinstance(error, errors.ChannelClosedByBroker) and "inequivalent" in error.reply_text:
            why = (
                f"the queue {self._queue!r} is there with other settings than Flink's, which are "
                f"durable, not exclusive, not auto-delete, without arguments ({error.reply_text})"
            )
        return RabbitMqError(f"RabbitMQ at {self.place}: {why}")

    def close(self) -> None:
        """Close the connection; a closed one stays closed."""
        self._reachability.close()
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection, self.channel = self._connection, None, None
        if connection is not None:
            connection.close()

    def _connect(self, *, declare: bool) -> None:
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self._disconnect)
            connection = pika().BlockingConnection(self._parameters)
            heartbeat = self._parameters.heartbeat
            closed = pika().exceptions.ConnectionWrongStateError
            self._connection = HeartbeatConnection(connection, heartbeat, broker_errors(), closed)
            self.channel = self._connection.channel(partial(self._begin, declare))
            on_failure.pop_all()

    def _begin(self, declare: bool, channel: Any) -> None:
        if declare:
            channel.queue_declare(self._queue, durable=True)
        self._prepare(channel)


def _innermost(error: BaseException) -> str:
    """Return the text of a socket's error, which pika wraps several times."""
    found: Any = error
    while getattr(found, "args", ()) and isinstance(found.args[0], BaseException):
        found = found.args[0]
    found = getattr(found, "exception", found)
    return str(found) or repr(found)


def _parameters(options: RMQConnection) -> Any:
    module = pika()
    if options.uri is not None:
        try:
            parameters = module.URLParameters(options.uri)
        except (ValueError, TypeError, AttributeError):
            raise ValueError(
                "a URI of RabbitMQ is amqp://<user>:<password>@<host>:<port>/<virtual host>"
            ) from None
    else:
        parameters = module.ConnectionParameters(
            host=options.host,
            port=options.port,
            virtual_host=options.virtual_host,
            credentials=module.PlainCredentials(options.user_name, options.password),
        )
    timeout = (options.connection_timeout or _CONNECTION_TIMEOUT) / 1000
    parameters.socket_timeout = timeout
    parameters.stack_timeout = timeout
    parameters.connection_attempts = 1
    if options.requested_heartbeat is not None:
        parameters.heartbeat = options.requested_heartbeat
    elif parameters.heartbeat is None:  # a URI may set it
        parameters.heartbeat = _HEARTBEAT
    if options.requested_channel_max:
        parameters.channel_max = options.requested_channel_max
    if options.requested_frame_max:
        parameters.frame_max = options.requested_frame_max
    return parameters


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
