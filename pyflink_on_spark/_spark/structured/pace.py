"""How long the slots of a job without input wait for some before they end a micro-batch.

A micro-batch costs Spark about a second of a processor, whether there is input or not. So the
driver lets the slots of a job that has had none wait longer and longer, until something comes in:
the slot that finds it wakes the others, since a micro-batch ends when all slots have ended theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder

AWAKE = "awake"
"""The file in the control folder that ends the waiting of all slots."""
_REST = "rest"
_FIRST, _GROWTH, _MOST = 500, 4, 10_000
_PAUSE = 30
_LOOK_SECONDS = 0.05
_SHARE = 20


@dataclass(frozen=True)
class Idleness:
    """The report of a slot on the input of a micro-batch.

    Args:
        found: whether there was any, or anything came of the clock.
        rest: how long (ms) the clock has no effect on the slot; None for any time.
    """

    found: bool = True
    rest: int | None = 0


BUSY, OVER = Idleness(), Idleness(found=False, rest=None)
"""The reports of a slot that waits no longer than usual, and of one that has ended."""


def rest_of(names: Collection[str]) -> float:
    """Return how long (s) the slots of a micro-batch wait for input at least.

    Args:
        names: those in the control folder.
    """
    found = [name.partition("-")[2] for name in names if name.startswith(f"{_REST}-")]
    return max(map(int, found), default=0) / 1000


class Bell:
    """Ends the waiting of all slots of a query, which may be on other machines.

    Args:
        control: the control folder of the query.
        now: the time in seconds; any clock that never goes back.
    """

    def __init__(self, control: Folder, now: Callable[[], float] = time.monotonic) -> None:
        self._control, self._now = control, now
        self._due = 0.0

    def ring(self) -> None:
        """Let all slots that wait end their micro-batch."""
        self._control.write(AWAKE, b"")

    def rung(self) -> bool:
        """True if somebody has rung; it looks the more seldom, the longer that takes."""
        begun = self._now()
        if begun < self._due:
            return False
        rung = AWAKE in self._control.names()
        ended = self._now()
        self._due = ended + max(_LOOK_SECONDS, _SHARE * (ended - begun))
        return rung


class Pace:
    """Lets the slots of an idle job wait.

    Args:
        control: the control folder of the query.
    """

    def __init__(self, control: Folder) -> None:
        self._control = control
        self._quiet = 0
        self._rest: int | None = None  # an attempt that has failed may have left one
        self._usual = 0.0

    def note(self, told: Iterable[Idleness], seconds: float) -> None:
        """Decide how long the slots wait in the next micro-batch.

        Where Spark has too few task slots, the slots wait one after the other, and what comes in
        for the last one is found late. Such a micro-batch takes much longer than its waiting: then
        nobody waits for a while.

        Args:
            told: what the slots report of the last one.
            seconds: how long the last one took.
        """
        reports = list(told)
        quiet = not any(each.found for each in reports)
        self._quiet = self._quiet + 1 if quiet else min(0, self._quiet)
        if not self._rest:
            self._usual = seconds
        elif seconds > self._usual + max(1.5 * self._rest, self._rest + 1000) / 1000:
            self._quiet = -_PAUSE
        limits = [each.rest for each in reports if each.rest is not None]
        rest = min([_MOST, _FIRST * _GROWTH ** max(0, min(self._quiet, _GROWTH)), *limits])
        rest = rest if self._quiet > 0 and rest >= _FIRST else 0
        if self._rest != 0:
            for name in self._control.names():
                if name == AWAKE or (name.startswith(f"{_REST}-") and rest != self._rest):
                    self._control.remove(name)
        if rest and rest != self._rest:
            self._control.write(f"{_REST}-{rest}", b"")
        self._rest = rest
