"""The driver's end of the way back from the workers: lines to print, collected elements, counters.

A worker's task sends lists over a TCP connection of its own; both ends prove that they know a
random key. Items are counted per channel and producer, so what a task sends again when it is run
again is dropped. Channels are bounded: a producer waits when the driver does not keep up.
"""

from __future__ import annotations

import contextlib
import pickle
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import cloudpickle

from pyflink_on_spark._cluster.transport import handshake
from pyflink_on_spark._cluster.transport.handshake import Address, Endpoint, Listener, dial
from pyflink_on_spark._cluster.transport.stream import MessageConnection
from pyflink_on_spark._compat.errors import PyFlinkOnSparkError

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
    "Channel",
    "ChannelAddress",
    "ChannelClosed",
    "ChannelFailed",
    "ResultServer",
    "Sender",
    "connect",
]

_THIS_MACHINE = Endpoint("127.0.0.1", "127.0.0.1")

Producer = str | int


class Channel:
    """One named stream of results, from any number of producers, in the driver.

    With a callback, each arriving list is handed to it, one at a time. Without, iterate: items come
    in the order of each producer. Made by `ResultServer.open_channel`.
    """

    def __init__(
        self, name: str, callback: Callable[[list[Any]], None] | None, capacity: int
    ) -> None:
        self.name = name
        self._callback = callback
        self._capacity = capacity
        self._changed = threading.Condition()
        self._delivering = threading.RLock()
        self._waiting: deque[list[Any]] = deque()
        self._delivered: dict[Producer, int] = {}
        self._links: set[_Link] = set()
        self._ended = False
        self._closed = False
        self._error: BaseException | None = None

    @property
    def error(self) -> BaseException | None:
        """The error that the callback raised, or with which the channel was finished."""
        return self._error

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches():
            yield from batch

    def batches(self) -> Iterator[list[Any]]:
        """Iterate over the lists as sent, until `finish`; leaving early closes the channel.

        Raises:
            BaseException: what the channel was finished with, after everything that came before it.
        """
        try:
            while (batch := self._next_batch()) is not None:
                yield batch
        finally:
            self.close()

    def finish(self, error: BaseException | None = None) -> None:
        """Note that no producer will send more: the job has ended.

        Args:
            error: what an iteration shall raise after the last item.
        """
        with self._changed:
            if not self._ended:
                self._ended = True
                self._error = self._error or error
            self._changed.notify_all()

    def close(self) -> None:
        """Want nothing more: what waits is dropped, and producers see `ChannelClosed` soon."""
        with self._changed:
            self._closed = self._ended = True
            self._waiting.clear()
            links, self._links = self._links, set()
            self._changed.notify_all()
        for link in links:
            link.answer(CLOSED)

    def _next_batch(self) -> list[object] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            if self._waiting:
                batch = self._waiting.popleft()
                self._changed.notify_all()
                return batch
            if self._error is not None and not self._closed:
                raise self._error
            return None

    def attach(self, link: _Link, producer: Producer) -> int | None:
        """Take on a producer's connection.

        Returns:
            How many of the producer's items have been delivered already; None if closed.
        """
        with self._changed:
            if self._ended:
                return None
            self._links.add(link)
            return self._delivered.get(producer, 0)

    def detach(self, link: _Link) -> None:
        """Forget a connection that has ended."""
        with self._changed:
            self._links.discard(link)

    def deliver(self, producer: Producer, start: int, items: list[object]) -> bool:
        """Take one message, unless delivered already; waits while the channel is full.

        Args:
            producer: who sent it.
            start: how many items the producer sent before it.
            items: the items.

        Returns:
            Whether the channel is still open.
        """
        if self._callback is not None:
            return self._call(self._callback, producer, start, items)
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self._waiting) < self._capacity)
            if self._ended:
                return False
            fresh = self._fresh(producer, start, items)
            if fresh:
                self._waiting.append(fresh)
                self._changed.notify_all()
            return True

    def _call(
        self,
        callback: Callable[[list[Any]], None],
        producer: Producer,
        start: int,
        items: list[object],
    ) -> bool:
        with self._delivering:
            if self._ended:
                return False
            fresh = self._fresh(producer, start, items)
            if fresh:
                try:
                    callback(fresh)
                except BaseException as error:
                    self.finish(error)
                    raise
            return True

    def _fresh(self, producer: Producer, start: int, items: list[object]) -> list[object]:
        delivered = self._delivered.get(producer, 0)
        if start > delivered:
            raise ValueError(f"producer {producer} left out items {delivered} to {start}")
        self._delivered[producer] = max(delivered, start + len(items))
        return items[delivered - start :]


class _Link:
    """The driver's end of one producer's connection."""

    def __init__(self, wire: MessageConnection) -> None:
        self._wire = wire
        self.hang_up, self.close = wire.hang_up, wire.close

    def answer(self, frame: bytes) -> None:
        """Send a frame; a producer that is gone does not matter."""
        with contextlib.suppress(OSError):
            self._wire.send_bytes(frame)

    def receive(self, timeout: float | None = None) -> bytes | None:
        """Return the next frame, or None when the producer has hung up."""
        try:
            return self._wire.recv_bytes(timeout)
        except (EOFError, OSError):
            return None


class ResultServer:
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
        callback: Callable[[list[Any]], None] | None = None,
        capacity: int = 64,
    ) -> Channel:
        """Open a channel that producers can connect to.

        Args:
            name: a name that no open channel has.
            callback: is handed every list that arrives, one at a time, on a thread of the server;
                without it the channel is iterated. What it raises ends the channel and becomes its
                ``error``.
            capacity: how many messages may wait for an iteration.

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

    def release(self, channel: Channel) -> None:
        """Close a channel and forget its name and its counts.

        Args:
            channel: a channel of this server.
        """
        self.forget(channel)
        channel.close()

    def forget(self, channel: Channel) -> None:
        """Close a channel to producers; what waits in it can still be read.

        Args:
            channel: a channel of this server.
        """
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
            link.answer(CLOSED)
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
