"""The worker's end of the way back to the driver: an ordered, acknowledged stream of lists."""

from __future__ import annotations

import pickle
import threading
from dataclasses import dataclass
from typing import Any, Self

import cloudpickle

from pyflink_on_spark._cluster.transport.handshake import Address, dial
from pyflink_on_spark._cluster.transport.message_connection import MessageConnection
from pyflink_on_spark._compat.errors import PyFlinkOnSparkError

# What the driver answers: one byte, and for a failure the text after it.
ACKNOWLEDGED = b"a"
CLOSED = b"c"
FAILED = b"f"


class ChannelClosed(PyFlinkOnSparkError):
    """The driver reads no more from this channel: the producer can stop early without failing."""


class ChannelFailed(PyFlinkOnSparkError, ConnectionError):
    """What a producer sent can no longer reach the driver; the text says why."""


@dataclass(frozen=True)
class ChannelAddress(Address):
    """Where and how a worker reaches the driver's `ResultServer`; travels inside a task.

    Args:
        window: how many messages a producer may have on the way before it waits for the driver.
    """

    window: int = 16


def dump_message(start: int, items: list[Any]) -> bytes:
    """Pickle one message, by value where a class lives in the user's script only.

    Args:
        start: how many items the producer sent before these.
        items: the items.
    """
    try:
        return pickle.dumps((start, items), protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError):
        by_value: bytes = cloudpickle.dumps((start, items), protocol=5)
        return by_value


class Sender:
    """One producer's stream into one channel; made by `connect`.

    Messages are pipelined: `send` waits only while a full window is on its way. `close` waits until
    the driver has taken everything, so a task that ends well has delivered.
    """

    def __init__(self, connection: MessageConnection, window: int, delivered: int) -> None:
        self._connection = connection
        self._window = window
        self._already_delivered = delivered
        self._produced = 0
        self._unacknowledged = 0
        self._refusal: bytes | None = None
        self._lock = threading.Lock()

    def send(self, items: list[Any]) -> None:
        """Send a list of things as one message; what an earlier attempt delivered is left out.

        Args:
            items: what to send; pickled before this returns.

        Raises:
            ChannelClosed: if the driver reads no more.
            ChannelFailed: if the driver is gone or could not take what was sent.
        """
        with self._lock:
            start, self._produced = self._produced, self._produced + len(items)
            if start < self._already_delivered:
                items = items[self._already_delivered - start :]
                start = min(self._already_delivered, self._produced)
            self._take_answers()
            if not items:
                return
            message = dump_message(start, items)
            while self._unacknowledged >= self._window:
                self._take_answer()
            self._unacknowledged += 1
            try:
                self._connection.send_bytes(message)
            except OSError as error:
                self._explain(error)

    def flush(self) -> None:
        """Wait until the driver has taken every message.

        Raises:
            ChannelClosed: if the driver reads no more.
            ChannelFailed: if the driver is gone or could not take what was sent.
        """
        with self._lock:
            while self._unacknowledged:
                self._take_answer()

    def close(self) -> None:
        """Flush, then hang up; hangs up also when the flush fails."""
        try:
            self.flush()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Hang up at once; what is on its way may or may not arrive."""
        self._connection.close()
        self._unacknowledged = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def _take_answers(self) -> None:
        if self._refusal is not None:
            raise_refusal(self._refusal)
        try:
            while self._connection.poll():
                self._take_answer()
        except OSError as error:
            raise _gone(error) from error

    def _take_answer(self) -> None:
        if self._refusal is not None:
            raise_refusal(self._refusal)  # the driver answers nothing after that
        try:
            answer = self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise _gone(error) from error
        if answer != ACKNOWLEDGED:
            self._refusal = answer
            raise_refusal(answer)
        self._unacknowledged -= 1

    def _explain(self, error: OSError) -> None:
        """Raise what the driver said before it hung up, or else that it did."""
        while True:
            try:
                answer = self._connection.recv_bytes()
            except (EOFError, OSError):
                raise _gone(error) from error
            if answer != ACKNOWLEDGED:
                self._refusal = answer
                raise_refusal(answer)


def raise_refusal(answer: bytes) -> None:
    """Raise what an answer other than an acknowledgement means.

    Args:
        answer: a frame from the driver.
    """
    if answer == CLOSED:
        raise ChannelClosed("the driver has closed the channel")
    raise ChannelFailed(f"the driver could not take a result: {answer[1:].decode()}")


def _gone(error: BaseException) -> ChannelFailed:
    return ChannelFailed(f"the connection to the driver is lost ({error!r})")


def connect(address: ChannelAddress, channel: str, producer_id: str | int) -> Sender:
    """Open a producer's stream into a channel of the driver.

    Args:
        address: where the driver listens.
        channel: the name that the driver opened the channel with.
        producer_id: the same for every attempt of a task, different between tasks.

    Raises:
        ChannelClosed: if the channel is closed or unknown.
        ChannelFailed: if the driver cannot be reached.
    """
    try:
        connection = dial(address)
    except (OSError, EOFError) as error:
        raise _gone(error) from error
    try:
        connection.send_bytes(pickle.dumps((channel, producer_id)))
        answer = connection.recv_bytes()
        if not answer.startswith(ACKNOWLEDGED):
            raise_refusal(answer)
    except (OSError, EOFError) as error:
        connection.close()
        raise error if isinstance(error, ChannelFailed) else _gone(error) from error
    except ChannelClosed:
        connection.close()
        raise
    return Sender(connection, address.window, delivered=int(answer[1:]))
