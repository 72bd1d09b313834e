"""The driver's end of the way back from the workers: lines to print, collected elements, counters.

A worker's task sends lists over a TCP connection of its own; both ends prove that they know a
random key. A producer waits when the driver does not keep up.
"""

from __future__ import annotations

import contextlib
import pickle
import secrets
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import cloudpickle

from pyflink_on_spark._cluster.transport import handshake
from pyflink_on_spark._cluster.transport.handshake import Address, Endpoint, Listener, dial
from pyflink_on_spark._cluster.transport.stream import MessageConnection
from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._job.channels import Channel, Desk, Producer

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import SendItems


# What the driver answers: one byte, and for a failure the text after it.
ACKNOWLEDGED = b"a"
CLOSED = b"c"
FAILED = b"f"


class ChannelClosed(PyFlinkOnSparkError):
    """The driver reads no more from this channel: the producer can stop early without failing."""


class ChannelFailed(PyFlinkOnSparkError, ConnectionError):
    """The rows of a producer can no longer reach the driver; the text says why."""


@dataclass(frozen=True)
class ChannelAddress(Address):
    """The address of the driver's `ResultServer` for a worker; travels inside a task.

    Args:
        window: how many messages a producer may have on the way before it waits for the driver.
    """

    window: int = 16


def dump_message(start: int, items: list[object]) -> bytes:
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
        """Send a list of things as one message, without those that an earlier attempt delivered.

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
        """Close the connection at once; messages on their way may be lost."""
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
        """Raise the driver's last error, or else that the driver has closed the connection."""
        while True:
            try:
                answer = self._connection.recv_bytes()
            except (EOFError, OSError):
                raise _gone(error) from error
            if answer != ACKNOWLEDGED:
                self._refusal = answer
                raise_refusal(answer)


def raise_refusal(answer: bytes) -> None:
    """Raise the error of an answer other than an acknowledgement.

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


__all__ = [
    "ChannelAddress",
    "ChannelClosed",
    "ChannelFailed",
    "ResultServer",
    "Sender",
    "connect",
]

_THIS_MACHINE = Endpoint("127.0.0.1", "127.0.0.1")


class _Link:
    """The driver's end of one producer's connection."""

    def __init__(self, wire: MessageConnection) -> None:
        self._wire = wire
        self.hang_up, self.close = wire.hang_up, wire.close

    def answer(self, frame: bytes) -> None:
        """Send a frame; a producer that is gone does not matter."""
        with contextlib.suppress(OSError):
            self._wire.send_bytes(frame)

    def refuse(self) -> None:
        """Let the producer end, since its channel is closed."""
        self.answer(CLOSED)

    def receive(self, timeout: float | None = None) -> bytes | None:
        """Return the next frame, or None when the producer has hung up."""
        try:
            return self._wire.recv_bytes(timeout)
        except (EOFError, OSError):
            return None


class ResultServer(Desk):
    """Listens in the driver for what workers send, for as long as the driver has jobs.

    Args:
        endpoint: where to listen.
        window: how many messages a producer may have on the way before it waits.
    """

    def __init__(self, endpoint: Endpoint = _THIS_MACHINE, window: int = 16) -> None:
        self._channels: dict[str, Channel] = {}
        self._links: set[_Link] = set()
        self._lock = threading.Lock()
        self._closed = False
        authkey = secrets.token_bytes(32)
        self._listener = Listener(endpoint, authkey, self._serve, "result-server")
        place = self._listener.address
        self.address = ChannelAddress(place.host, place.port, authkey, place.identity, window)

    def open_channel(
        self,
        name: str,
        callback: SendItems | None = None,
        capacity: int = 64,
    ) -> Channel:
        """Open a channel that producers can connect to.

        Raises:
            ValueError: if a channel of that name is open, or the server is closed.
        """
        with self._lock:
            if name in self._channels or self._closed:
                raise ValueError(
                    f"cannot open the channel {name!r}: it is open, or the server closed"
                )
            channel = self._channels[name] = Channel(name, callback, capacity)
            return channel

    def forget(self, channel: Channel) -> None:
        """Close a channel to producers; what waits in it can still be read."""
        with self._lock:
            self._channels.pop(channel.name, None)

    def close(self) -> None:
        """Stop listening, close every channel and hang up on every producer."""
        with self._lock:
            self._closed = True
            channels, links = list(self._channels.values()), list(self._links)
        self._listener.close()
        for channel in channels:
            channel.close()
        for link in links:
            link.hang_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self, wire: MessageConnection) -> None:
        """Receive a producer's messages, in a thread of its own."""
        link = _Link(wire)
        with self._lock:
            if not self._closed:
                self._links.add(link)
        try:
            hello = link.receive(handshake.HANDSHAKE_SECONDS) if link in self._links else None
            if hello is not None:
                self._receive(link, *pickle.loads(hello))
        finally:
            with self._lock:
                self._links.discard(link)
            link.close()

    def _receive(self, link: _Link, name: str, producer: Producer) -> None:
        channel = self._channels.get(name)
        delivered = None if channel is None else channel.attach(link, producer)
        if channel is None or delivered is None:
            link.refuse()
            return
        link.answer(ACKNOWLEDGED + str(delivered).encode())
        try:
            _deliver_all(channel, producer, link)
        finally:
            channel.detach(link)


def _deliver_all(channel: Channel, producer: Producer, link: _Link) -> None:
    """Hand over a producer's messages until it hangs up.

    After the channel has closed, messages are read and dropped, so that the producer's own end sees
    the answer and not a broken connection.
    """
    refused = False
    while (message := link.receive()) is not None:
        if refused:
            continue
        try:
            start, items = pickle.loads(message)
            refused = not channel.deliver(producer, start, items)
            link.answer(CLOSED if refused else ACKNOWLEDGED)
        except Exception as error:  # noqa: BLE001 - whatever it is, producer and driver learn of it
            refused = True
            channel.finish(error)
            link.answer(FAILED + repr(error).encode())
