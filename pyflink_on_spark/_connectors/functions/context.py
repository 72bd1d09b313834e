"""The contexts of source functions and sink functions."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from threading import get_ident
from typing import TYPE_CHECKING, Any, Self

from pyflink_on_spark._runtime.elements.bundle import (
    BUNDLE_SIZE,
    MIN_TIMESTAMP,
    Bundle,
    ChannelStatus,
    Watermark,
)
from pyflink_on_spark._runtime.elements.immutability import (
    IMMUTABLE_TYPES,
    deserialize,
    is_immutable,
    serialize,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.elements.bundle import Cursor
    from pyflink_on_spark._runtime.elements.clock import Clock


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


class CheckpointLock:
    """A reentrant lock for ``with``.

    A snapshot that wants the lock gets it next, so that a function that releases the lock only to
    acquire it again cannot delay snapshots. A function that releases the lock waits while the queue
    is at its capacity: at that moment its state and its emitted elements are consistent. A function
    never waits during a snapshot.

    Args:
        queue: the queue of the function.
    """

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._depth = 0
        self._snapshot_next = False
        self._no_snapshot = threading.Event()

    def acquire(self) -> None:
        """Acquire the lock."""
        me = get_ident()
        if self._owner != me:
            self._lock.acquire()
            while self._snapshot_next:
                self._lock.release()
                self._no_snapshot.wait()
                self._lock.acquire()
            self._owner = me
        self._depth += 1

    def release(self) -> None:
        """Release the lock.

        Raises:
            RuntimeError: this thread does not hold the lock.
        """
        if self._owner != get_ident():
            raise RuntimeError("the checkpoint lock is not held by this thread")
        self._depth -= 1
        if not self._depth:
            self._owner = None
            self._lock.release()
            self._queue.wait_for_room()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    @contextlib.contextmanager
    def for_snapshot(self) -> Iterator[None]:
        """Hold the lock, with precedence over the function."""
        self._no_snapshot.clear()
        self._snapshot_next = True
        self._queue.set_unlimited(True)
        try:
            with self._lock:
                self._owner, self._depth = get_ident(), 1
                try:
                    yield
                finally:
                    self._owner, self._depth = None, 0
        finally:
            self._queue.set_unlimited(False)
            self._snapshot_next = False
            self._no_snapshot.set()


class FunctionSourceContext:
    """The argument of a source function's ``run``: takes the elements that the function emits.

    Args:
        queue: the queue to the subtask.
        lock: the checkpoint lock.
        batch: whether the job runs in BATCH mode, which ignores watermarks.
    """

    def __init__(self, queue: EventQueue, lock: CheckpointLock, batch: bool) -> None:
        self._queue, self._lock, self._batch = queue, lock, batch
        self._put = queue.put
        self._idle = False

    def collect(self, element: object) -> None:
        """Emit an element without a timestamp."""
        self._emit(element, None)

    def collect_with_timestamp(self, element: object, timestamp: int) -> None:
        """Emit an element with its timestamp (ms)."""
        self._emit(element, timestamp)

    def emit_watermark(self, timestamp: int) -> None:
        """Emit a watermark: no element at or before this time (ms) follows. No effect in BATCH."""
        if not isinstance(timestamp, int):
            raise TypeError(f"a watermark is a time in ms, not {timestamp!r}")
        if self._batch:
            return
        with self._lock:
            self._wake()
            self._queue.put(Watermark(timestamp))

    def mark_as_temporarily_idle(self) -> None:
        """Mark the source as idle until it emits again: it does not hold back watermarks."""
        if self._batch:
            return
        with self._lock:
            if not self._idle:
                self._idle = True
                self._queue.put(ChannelStatus(True))

    def get_checkpoint_lock(self) -> CheckpointLock:
        """Return the lock for ``with``; no snapshot is taken while a function holds it."""
        return self._lock

    def _emit(self, element: object, timestamp: int | None) -> None:
        if type(element) not in IMMUTABLE_TYPES and not is_immutable(element):
            element = deserialize(serialize(element))
        with self._lock:
            if self._idle:
                self._wake()
            self._put((element, timestamp))

    def _wake(self) -> None:
        if self._idle:
            self._idle = False
            self._queue.put(ChannelStatus(False))


class FunctionSinkContext:
    """The second argument of a sink function's ``invoke``.

    Args:
        cursor: has the timestamp of the element.
        clock: the processing time.
    """

    __slots__ = ("_clock", "_cursor", "watermark")

    def __init__(self, cursor: Cursor, clock: Clock) -> None:
        self._cursor, self._clock = cursor, clock
        self.watermark = MIN_TIMESTAMP

    def timestamp(self) -> int | None:
        """Return the timestamp of the element in ms, or None."""
        return self._cursor.timestamp

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self.watermark

    def current_processing_time(self) -> int:
        """Return the processing time in ms."""
        return self._clock.now()
