"""One source of a subtask: its reader, and how much of it is read at once."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._runtime.contract.connector import SourceReader
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle, EndOfInput
from pyflink_on_spark._runtime.task.operator_chain import SOURCE_CHANNEL, OperatorChain

_TURN_SECONDS = 0.1


class SourceInput:
    """Reads the source of one chain.

    A turn begins with one element and doubles as long as it is short, whatever the functions after
    the source take. So of a small input not all is read before another one has its turn, and a slow
    function does not hold event time back.

    A reader that has ended is closed; where checkpoints are made, once one is complete that has its
    end: until then it takes part in them, since there may be something that it has to tell its
    source.

    Args:
        chain: what it feeds.
        reader: the source's end in this subtask.
        checkpointed: whether checkpoints are made.
        allowance: how many elements are read between two checkpoints; None for any number.
        now: the time in seconds; any clock that never goes back.
        ask: asks the driver for a number of splits.
    """

    def __init__(
        self,
        chain: OperatorChain,
        reader: SourceReader,
        checkpointed: bool,
        allowance: int | None,
        now: Callable[[], float] = time.monotonic,
        ask: Callable[[int], None] = lambda count: None,
    ) -> None:
        self._chain, self._reader, self._now = chain, reader, now
        self._ask = ask
        self._ordered: deque[int] = deque()
        self._held: list[tuple[int, Sequence[Any], bool]] = []
        self._checkpointed = checkpointed
        self._size = 1
        self._begun: float | None = None
        self._allowance, self._left = allowance, allowance
        self._stopped = self._closed = False
        self._last_position: list[Any] = []
        self._ended_in: int | None = None
        self.reading = True
        """True until the source has ended."""

    @property
    def reader(self) -> SourceReader:
        """The source's end in this subtask."""
        return self._reader

    @property
    def paused(self) -> bool:
        """True if nothing is read before the next checkpoint."""
        return self._left == 0

    @property
    def backlog(self) -> int | None:
        """The number of waiting elements, if it is known."""
        return self._reader.backlog() if self.reading else None

    def poll(self) -> tuple[int, bool]:
        """Queue the next elements of the source in the chain.

        Returns:
            How many elements and events it was, and whether there is more right now.
        """
        self._adapt()
        reader, left = self._reader, self._left
        limit = reader.limit = self._size if left is None else min(self._size, left)
        event = reader.poll()
        count = 0
        if isinstance(event, Bundle):
            count = len(event.values)
            if left is not None:
                self._left = max(0, left - count)
            self._chain.receive(0, event)
        elif event is not None:
            self._chain.take_event(SOURCE_CHANNEL, event)
        elif reader.ended:
            self._end()
        if wanted := reader.splits_wanted():
            self._ask(wanted)
        self._begun = self._now() if count else None
        return (count or int(event is not None or not self.reading)), count >= limit

    def stop(self) -> None:
        """Read no further: to those downstream it is as if the source had ended.

        What the reader has taken already is still to be polled while it is reading. Another call
        changes nothing.
        """
        if not self._stopped:
            self._stopped = True
            if self.reading and not self._reader.stop():
                self._end()

    def add_splits(self, splits: Sequence[Any], *, at_once: bool) -> None:
        """Take splits from the driver.

        What comes after the order of a checkpoint waits until the checkpoint's barrier has passed:
        the driver's part of the checkpoint has it as well.
        """
        if self._ordered:
            self._held.append((self._ordered[-1], splits, at_once))
        else:
            self._reader.add_splits(splits, at_once=at_once)

    def checkpoint_ordered(self, checkpoint_id: int) -> None:
        """Note that the driver has ordered a checkpoint, whose barrier will pass."""
        self._ordered.append(checkpoint_id)

    def barrier_passed(self, checkpoint_id: int) -> None:
        """Note that a barrier has passed, whether there was a snapshot or not."""
        while self._ordered and self._ordered[0] <= checkpoint_id:
            self._ordered.popleft()
        while self._held and self._held[0][0] <= checkpoint_id:
            _, splits, at_once = self._held.pop(0)
            self._reader.add_splits(splits, at_once=at_once)

    def snapshot(self, checkpoint_id: int) -> list[Any]:
        """Return the reader's positions."""
        self._left = self._allowance
        if not self._closed:
            if not self.reading and self._ended_in is None:
                self._ended_in = checkpoint_id
            self._reader.prepare_checkpoint(checkpoint_id)
            self._last_position = self._reader.snapshot()
        return self._last_position

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify the reader that a checkpoint is complete."""
        if not self._closed:
            self._reader.notify_checkpoint_complete(checkpoint_id)
            if self._ended_in is not None and self._ended_in <= checkpoint_id:
                self._close()

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify the reader that a checkpoint was aborted."""
        if not self._closed:
            self._reader.notify_checkpoint_aborted(checkpoint_id)

    def close(self) -> None:
        """Close the reader; what fails here hides nothing else."""
        self.reading = False
        if not self._closed:
            with contextlib.suppress(Exception):
                self._close()

    def _adapt(self) -> None:
        """Make the next turn longer or shorter, by the duration of the last one."""
        if self._begun is None:
            return
        took = self._now() - self._begun
        if took > 2 * _TURN_SECONDS:
            self._size = max(1, int(self._size * _TURN_SECONDS / took))
        elif took < _TURN_SECONDS:
            self._size = min(self._size * 2, BUNDLE_SIZE)

    def _end(self) -> None:
        self.reading = False
        if not self._stopped and not self._checkpointed:
            self._last_position = self._reader.snapshot()
            self._close()
        self._chain.take_event(SOURCE_CHANNEL, EndOfInput())

    def _close(self) -> None:
        self._closed = True
        self._reader.close()
