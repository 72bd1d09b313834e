"""How much a subtask's sources bring in an epoch, and when they have been read up to now."""

from __future__ import annotations

import sys
import time

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.task.backlog_detector import BacklogDetector
from pyflink_on_spark._runtime.task.subtask import Subtask

_FIRST_LIMIT = 16
_TURN_SECONDS = 0.1


class SourceTurns:
    """Reads a subtask's sources by turns that are short, whatever its functions take.

    ``elements`` is how many this epoch has brought. ``behind`` is whether more wait than were read.

    Args:
        subtask: the subtask.
        most: how many elements an epoch may have; None for any number.
    """

    __slots__ = ("_catching_up", "_most", "behind", "elements", "subtask")

    def __init__(self, subtask: Subtask, most: int | None) -> None:
        self.subtask = subtask
        self.elements = 0
        self.behind = False
        self._most = most or sys.maxsize
        self._catching_up = BacklogDetector()
        subtask.limit = _FIRST_LIMIT

    def begin(self, draining: bool) -> None:
        """Begin an epoch; when draining, sources that never end do so now."""
        self.behind = True
        if draining:
            self.subtask.end_sources()

    @property
    def more(self) -> bool:
        """Whether there may be more to read in this epoch."""
        return self.subtask.reading and self.behind and self.elements < self._most

    def take(self) -> int:
        """Work off what the sources have at once; return how many elements and events it was."""
        subtask, begun = self.subtask, time.monotonic()
        limit = subtask.limit = min(subtask.limit, self._most - self.elements)
        found = subtask.poll_sources()
        self.elements += found
        subtask.limit = _limit(limit, time.monotonic() - begun)
        if subtask.found and self._catching_up.caught_up(subtask.found, limit):
            self.behind = False
        return found

    def end(self) -> tuple[int, bool]:
        """End an epoch; return how much it brought, and whether more was waiting."""
        elements, behind = self.elements, self.behind
        self.elements, self.behind = 0, False
        return elements, behind and elements > 0 and self.subtask.reading


def _limit(limit: int, took: float) -> int:
    """Return how many elements to read at once, so that slow functions do not hold an epoch up."""
    if took > 2 * _TURN_SECONDS:
        return max(1, int(limit * _TURN_SECONDS / took))
    return min(limit * 2, BUNDLE_SIZE) if took < _TURN_SECONDS else limit
