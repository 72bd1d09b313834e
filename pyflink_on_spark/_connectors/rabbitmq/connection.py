"""A connection that stays alive while its user is busy."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

_SIGNS = 4
"""How many times in an interval without signs of life it is looked after."""


class LivingConnection:
    """A connection of pika's, which a thread looks after.

    A function that takes minutes for an element would else let the broker end the connection. The
    lock is for all that is done with the connection: pika's are for one thread at a time.

    Args:
        connection: pika's connection.
        heartbeat: the longest time (s) without a sign of life; 0 if there is none.
        errors: what pika raises.
        closed: what of these to raise if it is closed.
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
            seconds = heartbeat / _SIGNS
            name = "signs of life for RabbitMQ"
            threading.Thread(
                target=self._look_after, args=(seconds,), name=name, daemon=True
            ).start()

    @property
    def is_open(self) -> bool:
        """Whether it is not closed, as far as is known."""
        return bool(self._connection.is_open)

    def channel(self, prepare: Callable[[Any], None]) -> Channel:
        """Return a new channel, with which something is done first."""
        with self._lock:
            made = self._connection.channel()
            prepare(made)
        return Channel(made, self._lock)

    def listen(self, seconds: float) -> None:
        """Let messages and signs of life come and go."""
        with self._lock:
            # The thread may have found the loss meanwhile; pika has a ValueError for that.
            if not self._connection.is_open:
                raise self._closed("the connection is closed")
            self._connection.process_data_events(time_limit=seconds)

    def close(self) -> None:
        """Close it, if it is not closed."""
        self._ended.set()
        with self._lock, contextlib.suppress(*self._errors):
            self._connection.close()

    def _look_after(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            with self._lock:
                if self._ended.is_set() or not self._connection.is_open:
                    return
                # Who uses it next finds out what is wrong.
                with contextlib.suppress(*self._errors):
                    self._connection.process_data_events(time_limit=0)


class Channel:
    """What is done on a channel of a connection.

    Args:
        channel: pika's.
        lock: the connection's.
    """

    def __init__(self, channel: Any, lock: threading.RLock) -> None:
        self._channel, self._lock = channel, lock

    def basic_publish(self, exchange: str, queue: str, body: bytes) -> None:
        """Send a message."""
        with self._lock:
            self._channel.basic_publish(exchange, queue, body)

    def basic_ack(self, tag: int, *, multiple: bool) -> None:
        """Acknowledge messages."""
        with self._lock:
            self._channel.basic_ack(tag, multiple=multiple)

    def tx_commit(self) -> None:
        """End a transaction, and wait until the broker has done so."""
        with self._lock:
            self._channel.tx_commit()
