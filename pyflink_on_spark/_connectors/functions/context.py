"""The contexts of source functions and sink functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.functions.checkpoint_lock import CheckpointLock
from pyflink_on_spark._connectors.functions.event_queue import EventQueue
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP, ChannelStatus, Watermark
from pyflink_on_spark._runtime.elements.immutability import (
    IMMUTABLE_TYPES,
    deserialize,
    is_immutable,
    serialize,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.elements.clock import Clock
    from pyflink_on_spark._runtime.elements.cursor import Cursor


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

    def collect(self, element: Any) -> None:
        """Emit an element without a timestamp."""
        self._emit(element, None)

    def collect_with_timestamp(self, element: Any, timestamp: int) -> None:
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

    def _emit(self, element: Any, timestamp: int | None) -> None:
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
