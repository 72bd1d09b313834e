"""Splits that readers ask for: who hands them out, and the reader that asks.

A source with a ``SplitEnumerator`` divides its input while the job runs. The enumerator lives in
the driver, for one attempt, and knows the splits that no reader has yet. A reader asks for splits
when it has read what it had, and gets the next ones in the order in which they were found. So
readers do not drift apart, however fast each of them is, and each reads its splits in that order.

A checkpoint has what the enumerator still had when the checkpoint was ordered, and what each reader
had not read to its end. A split that a reader gets after the order and before its barrier would be
in both; it waits until the barrier has passed. At a restore all of it goes back to the enumerator,
the splits that were begun with their positions, in the order in which they were found: whatever the
parallelism is, the oldest split is read first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.connector.source import Source, SplitReader

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.elements.bundle import Bundle

MOST_AHEAD = 64
"""How many splits a reader asks for at most."""

UnreadSplit = tuple[Any, Any, int, int]
"""A split, the position of what was read last (None: nothing), how many elements after it were
read, and the number of the split in the order in which splits were found."""


class SplitEnumerator(ABC):
    """Knows the splits that no reader has yet. Runs in the driver.

    ``search`` may take long, and runs while other methods are called. Nothing else runs at the same
    time as another call.
    """

    interval: int | None = None
    """The time between two searches (ms); None if nothing is searched."""

    def __init__(self) -> None:
        self._unread: deque[UnreadSplit] = deque()
        self._number = 0

    @abstractmethod
    def search(self) -> list[Any]:
        """Return the splits that are new, in their order.

        Raises:
            Exception: the attempt has to fail.
        """

    def found(self, splits: Iterable[Any]) -> None:
        """Take what ``search`` returned."""
        for split in splits:
            self._unread.append((split, None, 0, self._number))
            self._number += 1

    def give_back(self, unread: Iterable[UnreadSplit]) -> None:
        """Take the splits of a checkpoint, before anything else."""
        self._unread.extend(sorted(unread, key=_number_of))
        if self._unread:
            self._number = self._unread[-1][3] + 1

    def take(self) -> UnreadSplit | None:
        """Return, once, the next split that no reader has."""
        return self._unread.popleft() if self._unread else None

    def snapshot(self) -> list[Any]:
        """Return the unread splits for a checkpoint; ``Source.enumerator`` gets them back."""
        return list(self._unread)


def _number_of(unread: UnreadSplit) -> int:
    return unread[3]


class AskingReader(SplitReader):
    """Reads the splits that it asks for, one after the other; it never ends.

    One split is there in advance, so that no time is lost while the next one is asked for. Where
    splits are so small that it is, more are.
    """

    def __init__(self, source: Source, context: OperatorContext) -> None:
        super().__init__(source, (), None, context)
        self._numbers: deque[int] = deque()
        self._ahead, self._asked, self._polls = 1, False, 0
        self._starved = False

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """False: there may always be another split."""
        return False

    def poll(self) -> Bundle | None:
        """Return the next elements of the splits that are here."""
        before = len(self._todo)
        bundle = super().poll()
        done = before - len(self._todo)
        if done:
            for _ in range(done):
                self._numbers.popleft()
            self._polls = 0
        elif bundle is not None:
            self._polls += 1
            if self._polls > 2:
                self._ahead = 1  # splits are large: the others may have the next ones
        if bundle is None and done:
            self._starved = self._asked
        return bundle

    def splits_wanted(self) -> int:
        if self._asked or len(self._todo) > max(1, self._ahead // 2):
            return 0
        self._asked = True
        return self._ahead

    def add_splits(self, splits: Sequence[UnreadSplit], *, at_once: bool) -> None:
        for split, position, skip, number in splits:
            self._todo.append((split, position, skip))
            self._numbers.append(number)
        if self._starved and at_once:
            self._ahead = min(2 * self._ahead, MOST_AHEAD)
        self._asked = self._starved = False

    def snapshot(self) -> list[UnreadSplit]:
        """Return the splits that are not read to their end."""
        return [
            (split, position, skip, number)
            for (split, position, skip), number in zip(self._todo, self._numbers, strict=True)
        ]
