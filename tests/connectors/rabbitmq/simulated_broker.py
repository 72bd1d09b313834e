"""A broker with one queue in this process: it delivers messages until they are acknowledged."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

HEARTBEAT = 60


class Broker:
    """One queue, and the connections to it.

    Args:
        texts: the messages; each text is its own correlation id.
        owner: returns what tells whether the process that connects now has ended.
        most: returns how many messages the next call delivers at most.
    """

    def __init__(
        self,
        texts: list[str],
        owner: Callable[[], Callable[[], bool]],
        most: Callable[[], int] = lambda: 1_000,
    ) -> None:
        self._texts, self._owner, self.most = texts, owner, most
        self.ready = list(range(len(texts)))
        """The messages that nobody has, in order."""
        self._delivered: set[int] = set()
        self._connections: list[_Connection] = []

    def connect(self, options: Any, name: str, prepare: Callable[[Any], None]) -> _Connection:
        """Stand for ``RabbitMqClient``."""
        connection = _Connection(self, self._owner(), prepare)
        self._connections.append(connection)
        return connection

    @property
    def left(self) -> list[str]:
        """The messages that are not acknowledged."""
        self._notice_losses()
        unacknowledged = [n for each in self._connections for n in each.unacknowledged.values()]
        return [self._texts[number] for number in sorted([*self.ready, *unacknowledged])]

    def take(self) -> Iterator[tuple[int, str, bool]]:
        """Yield some messages, each with its number and whether it was delivered before."""
        self._notice_losses()
        for _ in range(min(self.most(), len(self.ready))):
            number = self.ready.pop(0)
            again = number in self._delivered
            self._delivered.add(number)
            yield number, self._texts[number], again

    def give_back(self, connection: _Connection) -> None:
        """Take the messages of a connection that has ended back into the queue."""
        if connection in self._connections:
            self._connections.remove(connection)
            for number in connection.unacknowledged.values():
                bisect.insort(self.ready, number)

    def _notice_losses(self) -> None:
        for connection in [each for each in self._connections if each.has_ended()]:
            self.give_back(connection)


class _Connection:
    """A connection, its channel, and the client that has both."""

    place = "here"
    notices_loss_after = 2_000 * HEARTBEAT
    recovers = False

    def __init__(
        self, broker: Broker, has_ended: Callable[[], bool], prepare: Callable[[Any], None]
    ) -> None:
        self._broker, self.has_ended = broker, has_ended
        self.unacknowledged: dict[int, int] = {}
        self._tag = self._acknowledged = 0
        self._transactional = False
        self.channel = self
        prepare(self)

    def listen(self, seconds: float) -> None:
        for number, text, again in self._broker.take():
            self._tag += 1
            self.unacknowledged[self._tag] = number
            method = SimpleNamespace(delivery_tag=self._tag, redelivered=again)
            properties = SimpleNamespace(correlation_id=text)
            self._callback(self, method, properties, text.encode())

    def basic_consume(self, queue: str, callback: Callable[..., None]) -> None:
        self._callback = callback

    def basic_ack(self, tag: int, multiple: bool) -> None:
        assert multiple
        self._acknowledged = tag
        if not self._transactional:
            self.tx_commit()

    def tx_select(self) -> None:
        self._transactional = True

    def tx_commit(self) -> None:
        for tag in [tag for tag in self.unacknowledged if tag <= self._acknowledged]:
            del self.unacknowledged[tag]

    def basic_qos(self, **settings: Any) -> None:
        pass

    def add_on_cancel_callback(self, callback: Any) -> None:
        pass

    def close(self) -> None:
        self._broker.give_back(self)
