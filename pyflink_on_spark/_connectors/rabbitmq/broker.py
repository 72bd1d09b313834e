"""A connection to a broker."""

from __future__ import annotations

import contextlib
import logging
import math
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._connectors.rabbitmq.connection import LivingConnection
from pyflink_on_spark._connectors.rabbitmq.options import RMQConnection
from pyflink_on_spark._compat.optional_package import optional_package

_pika_log = logging.getLogger("pika")
_RECOVERY_INTERVAL = 5000
_CONNECTION_TIMEOUT = 60_000
_HEARTBEAT = 60


class RabbitMqError(PyFlinkOnSparkError, RuntimeError):
    """A broker cannot be reached, or refuses what it is asked for."""


def pika() -> Any:
    """Return the module pika; raises ModuleNotFoundError that says what to install."""
    module = optional_package("pika", "pika", "RabbitMQ's connectors", "rabbitmq")
    if _pika_log.level == logging.NOTSET:
        # It logs each attempt that fails with several tracebacks; what is raised says the same.
        _pika_log.setLevel(logging.CRITICAL)
    return module


def broker_errors() -> tuple[type[Exception], ...]:
    """Return what pika raises: errors of its own, of sockets, of names and of certificates."""
    # What runs out of time while it connects is none of AMQPError.
    workflow = optional_package(
        "pika.adapters.utils.connection_workflow", "pika", "RabbitMQ's connectors", "rabbitmq"
    )
    return pika().exceptions.AMQPError, workflow.AMQPConnectorException, OSError


class Broker:
    """One connection with one channel on which a queue is declared.

    Args:
        options: where the broker is.
        queue: the queue; durable, neither exclusive nor deleted by itself, as Flink declares it.
        prepare: is called with each new channel, before anything else happens on it.

    Raises:
        RabbitMqError: there is no connection, or no such queue.
    """

    def __init__(self, options: RMQConnection, queue: str, prepare: Callable[[Any], None]) -> None:
        self._options, self._queue, self._prepare = options, queue, prepare
        self._parameters = _parameters(options)
        self.place = f"{self._parameters.host}:{self._parameters.port}"
        self.recovery_interval = options.network_recovery_interval or _RECOVERY_INTERVAL
        self.failure: Exception | None = None
        """Why it could not connect again."""
        self._connection: LivingConnection | None = None
        self.channel: Any = None
        try:
            self._connect(declare=True)
        except broker_errors() as error:
            raise self.explained(error) from error

    @property
    def recovers(self) -> bool:
        """Whether a lost connection is to be made again."""
        return self._options.automatic_recovery is not False

    def connect_again(self) -> bool:
        """Try to make a lost connection again; tell whether it is there.

        Raises:
            RabbitMqError: the broker is there, but refuses.
        """
        self.close()
        try:
            self._connect(declare=self._options.topology_recovery is not False)
        except broker_errors() as error:
            if self.is_lost(error):
                self.failure = error
                return False
            raise self.explained(error) from error
        return True

    @property
    def notices_loss_after(self) -> float:
        """How long (ms) the broker may take to find out that a connection is gone.

        For two intervals without a sign of life; without signs of life for ever.
        """
        return 2000 * self._parameters.heartbeat or math.inf

    @staticmethod
    def is_lost(error: Exception) -> bool:
        """Tell whether an error says that the connection is gone, not that something is refused."""
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
        """Let messages and signs of life come and go."""
        if self._connection is None:
            raise pika().exceptions.ConnectionWrongStateError("the connection is closed")
        self._connection.listen(seconds)

    def explained(self, error: Exception) -> RabbitMqError:
        """Return what to raise for an error of pika's."""
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
        """Close the connection, if it is not closed."""
        connection, self._connection, self.channel = self._connection, None, None
        if connection is not None:
            connection.close()

    def _connect(self, *, declare: bool) -> None:
        with contextlib.ExitStack() as unless_it_works:
            unless_it_works.callback(self.close)
            made = pika().BlockingConnection(self._parameters)
            heartbeat = self._parameters.heartbeat
            closed = pika().exceptions.ConnectionWrongStateError
            self._connection = LivingConnection(made, heartbeat, broker_errors(), closed)
            self.channel = self._connection.channel(partial(self._begin, declare))
            unless_it_works.pop_all()

    def _begin(self, declare: bool, channel: Any) -> None:
        if declare:
            channel.queue_declare(self._queue, durable=True)
        self._prepare(channel)


def _innermost(error: BaseException) -> str:
    """Return what a socket said, which pika wraps several times."""
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
    elif parameters.heartbeat is None:  # a URI may say it
        parameters.heartbeat = _HEARTBEAT
    if options.requested_channel_max:
        parameters.channel_max = options.requested_channel_max
    if options.requested_frame_max:
        parameters.frame_max = options.requested_frame_max
    return parameters
