"""The channels of a driver: named streams of what subtasks send to the program.

Items are counted per channel and producer, so what a task sends again when it is run again is
dropped. Channels are bounded: who delivers waits when the program does not keep up.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import SendItems


Producer = str | int


class ProducerLink(Protocol):
    """A producer that is connected to a channel."""

    def refuse(self) -> None:
        """Let the producer end, since its channel is closed."""
        ...


class Channel:
    """One named stream of results, from any number of producers, in the driver.

    With a callback, each arriving list is handed to it, one at a time. Without, iterate: items come
    in the order of each producer. Made by `Desk.open_channel`.
    """

    def __init__(self, name: str, callback: SendItems | None, capacity: int) -> None:
        self.name = name
        self._callback = callback
        self._capacity = capacity
        self._changed = threading.Condition()
        self._delivering = threading.RLock()
        self._waiting: deque[list[Any]] = deque()
        self._delivered: dict[Producer, int] = {}
        self._links: set[ProducerLink] = set()
        self._ended = False
        self._closed = False
        self._error: BaseException | None = None

    @property
    def error(self) -> BaseException | None:
        """The error that the callback raised, or with which the channel was finished."""
        return self._error

    def __iter__(self) -> Iterator[object]:
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
        """Want nothing more: what waits is dropped, and producers are notified."""
        with self._changed:
            self._closed = self._ended = True
            self._waiting.clear()
            links, self._links = self._links, set()
            self._changed.notify_all()
        for link in links:
            link.refuse()

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

    def attach(self, link: ProducerLink, producer: Producer) -> int | None:
        """Take on a producer's connection.

        Returns:
            How many of the producer's items have been delivered already; None if closed.
        """
        with self._changed:
            if self._ended:
                return None
            self._links.add(link)
            return self._delivered.get(producer, 0)

    def detach(self, link: ProducerLink) -> None:
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
        callback: SendItems,
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


class Desk:
    """Gives channels, into which the driver puts what comes to it."""

    def open_channel(
        self,
        name: str,
        callback: SendItems | None = None,
        capacity: int = 64,
    ) -> Channel:
        """Open a channel.

        Args:
            name: a name that no open channel has.
            callback: is handed every list that arrives, one at a time, on the thread that delivers
                it; without it the channel is iterated. What it raises ends the channel and becomes
                its ``error``.
            capacity: how many messages may wait for an iteration.
        """
        return Channel(name, callback, capacity)

    def release(self, channel: Channel) -> None:
        """Close a channel and forget its name and its counts.

        Args:
            channel: a channel of this desk.
        """
        self.forget(channel)
        channel.close()

    def forget(self, channel: Channel) -> None:
        """Close a channel to producers; what waits in it can still be read.

        Args:
            channel: a channel of this desk.
        """
