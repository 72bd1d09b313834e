"""The queue from the thread of a source function to its subtask."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark

CAPACITY = 2 * BUNDLE_SIZE
"""The number of items in the queue at which the function has to wait."""

LIMIT = 8 * BUNDLE_SIZE
"""The same while the function holds the checkpoint lock."""

Item = tuple[Any, int | None] | Watermark | ChannelStatus
"""An element with its timestamp (ms, or None), or an event."""


class SourceCancelled(BaseException):
    """Ends a function that emits after ``cancel``, even if it catches ``Exception``."""


class EventQueue:
    """A bounded queue from one or several threads to one thread.

    ``put`` and ``take`` need no lock unless they wait.
    """

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._receiver_waits = False
        self._senders_waiting = 0
        self._unlimited = False
        self._cancelled = False

    def put(self, item: Item) -> None:
        """Add an item.

        Raises:
            SourceCancelled: the queue is cancelled.
        """
        if len(self._items) >= LIMIT:
            self._wait_below(LIMIT)
        if self._cancelled:
            raise SourceCancelled
        self._items.append(item)
        if self._receiver_waits:
            self._wake()

    def wait_for_room(self) -> None:
        """Wait while the queue is at its capacity."""
        if len(self._items) >= CAPACITY:
            self._wait_below(CAPACITY)
        if self._cancelled:
            raise SourceCancelled

    def preload(self, items: Iterable[Item]) -> None:
        """Add items before the function starts."""
        self._items.extend(items)

    def take(self, seconds: float) -> Bundle | Watermark | ChannelStatus | None:
        """Remove the next event, or the elements before it; None if nothing arrives in time."""
        if not self._items:
            self._wait_for_item(seconds)
        taken = self._next()
        if self._senders_waiting:
            self._wake()
        return taken

    def waiting(self) -> list[Item]:
        """Return the items in the queue."""
        return list(self._items)

    def set_unlimited(self, unlimited: bool) -> None:
        """Set whether senders never wait."""
        self._unlimited = unlimited
        self._wake()

    def cancel(self) -> None:
        """Make all waiting and later calls of senders raise."""
        self._cancelled = True
        self._wake()

    def _next(self) -> Bundle | Watermark | ChannelStatus | None:
        items = self._items
        values: list[Any] = []
        timestamps: list[int | None] = []
        while items and len(values) < BUNDLE_SIZE:
            item = items[0]
            if type(item) is tuple:
                values.append(item[0])
                timestamps.append(item[1])
                items.popleft()
            elif values:
                break
            else:
                items.popleft()
                return item  # type: ignore[return-value]
        if not values:
            return None
        return Bundle(values, None if timestamps.count(None) == len(values) else timestamps)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _wait_below(self, size: int) -> None:
        with self._changed:
            self._senders_waiting += 1
            self._changed.wait_for(
                lambda: len(self._items) < size or self._unlimited or self._cancelled
            )
            self._senders_waiting -= 1

    def _wait_for_item(self, seconds: float) -> None:
        with self._changed:
            self._receiver_waits = True
            self._changed.wait_for(lambda: bool(self._items), seconds)
            self._receiver_waits = False
