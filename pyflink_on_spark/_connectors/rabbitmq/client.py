"""The client of a broker, and the errors that it raises."""

from __future__ import annotations

import contextlib
import logging
import math
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._compat.optional_package import optional_package
from pyflink_on_spark._connectors.rabbitmq.config import (
    HeartbeatConnection,
    RMQConnection,
)
from pyflink_on_spark._connectors.reachability import Reachability

_pika_log = logging.getLogger("pika")
_RECOVERY_INTERVAL = 5000
_CONNECTION_TIMEOUT = 60_000
_HEARTBEAT = 60


class RabbitMqError(PyFlinkOnSparkError, RuntimeError):
    """A broker cannot be reached, or refuses a request."""


def pika() -> Any:
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
