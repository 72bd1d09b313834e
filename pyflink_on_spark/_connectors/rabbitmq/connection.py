"""A connection that answers heartbeats while its user is busy."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

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
