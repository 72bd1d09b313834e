"""What a source function's thread hands to its subtask."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark

CAPACITY = 2 * BUNDLE_SIZE
"""How much may wait before the function has to."""

LIMIT = 8 * BUNDLE_SIZE
"""The same while the function holds the checkpoint lock."""

Item = tuple[Any, int | None] | Watermark | ChannelStatus
"""An element with its timestamp (ms, or None), or an event."""


class SourceCancelled(BaseException):
    """Unwinds a function that emits after it was cancelled, past any ``except Exception``."""


class EventQueue:
    """A queue to one thread from another one, or several, which wait when it is full.

    Adding and taking need no lock; only waiting does.
    """

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._receiver_waits = False
        self._senders_waiting = 0
        self._unlimited = False
        self._cancelled = False

    def put(self, item: Item) -> None:
        """Add something.

        Raises:
            SourceCancelled: nobody takes anything any more.
        """
        if len(self._items) >= LIMIT:
            self._wait_below(LIMIT)
        if self._cancelled:
            raise SourceCancelled
        self._items.append(item)
        if self._receiver_waits:
            self._wake()

    def wait_for_room(self) -> None:
        """Wait until what has piled up is being worked off."""
        if len(self._items) >= CAPACITY:
            self._wait_below(CAPACITY)
        if self._cancelled:
            raise SourceCancelled

    def preload(self, items: Iterable[Item]) -> None:
        """Add things before anybody sends."""
        self._items.extend(items)

    def take(self, seconds: float) -> Bundle | Watermark | ChannelStatus | None:
        """Take out the next event, or the elements before it; None if nothing comes in time."""
        if not self._items:
            self._wait_for_item(seconds)
        taken = self._next()
        if self._senders_waiting:
            self._wake()
        return taken

    def waiting(self) -> list[Item]:
        """Return what was not taken yet."""
        return list(self._items)

    def set_unlimited(self, unlimited: bool) -> None:
        """Let the sender add without ever waiting, or not."""
        self._unlimited = unlimited
        self._wake()

    def cancel(self) -> None:
        """Let the sender's next call, and one that waits, raise."""
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
