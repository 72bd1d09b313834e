"""The event times of a source's splits, which operators find in the rows."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP


class SplitTimes:
    """Takes the event times of a subtask's rows to the reader that the rows come from.

    The reader of a source names the split of each bundle that ``poll`` returns, and operators note
    the times of the rows that they process. A subtask polls a source only when nothing waits to be
    processed: the rows between two calls of ``poll`` are those of one bundle.
    """

    def __init__(self) -> None:
        self._split: Hashable = None
        self._largest: dict[Any, int] = {None: MIN_TIMESTAMP}

    def begin(self, split: Hashable, largest: dict[Any, int]) -> None:
        """Let operators note the times of a bundle.

        Args:
            split: the split of the bundle.
            largest: the largest time (ms) of each split since the reader has looked.
        """
        self._split, self._largest = split, largest
        largest.setdefault(split, MIN_TIMESTAMP)

    def note(self, time: int) -> None:
        """Note the event time (ms) of a row of the current bundle."""
        self._largest[self._split] = max(self._largest[self._split], time)
