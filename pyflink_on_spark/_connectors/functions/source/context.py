"""What ``run`` gets."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.bundle import ChannelStatus, Watermark
from pyflink_on_spark._runtime.immutability import IMMUTABLE_TYPES, is_immutable, serialize, deserialize
from pyflink_on_spark._connectors.functions.source.checkpoint_lock import CheckpointLock
from pyflink_on_spark._connectors.functions.source.event_queue import EventQueue


class SourceContext:
    """Takes what a source function emits.

    Args:
        queue: where it goes.
        lock: the checkpoint lock.
        batch: whether watermarks mean nothing.
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
        """Say that no element at or before a time (ms) follows; BATCH has no use for it."""
        if not isinstance(timestamp, int):
            raise TypeError(f"a watermark is a time in ms, not {timestamp!r}")
        if self._batch:
            return
        with self._lock:
            self._wake()
            self._queue.put(Watermark(timestamp))

    def mark_as_temporarily_idle(self) -> None:
        """Say that others need not wait for this source's watermarks, until it emits again."""
        if self._batch:
            return
        with self._lock:
            if not self._idle:
                self._idle = True
                self._queue.put(ChannelStatus(True))

    def get_checkpoint_lock(self) -> CheckpointLock:
        """Return the lock that keeps snapshots out, for ``with``."""
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
