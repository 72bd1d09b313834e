"""The lock under which a source function emits elements and updates its state."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from threading import get_ident
from typing import Self

from pyflink_on_spark._connectors.functions.event_queue import EventQueue


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
