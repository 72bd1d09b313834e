"""Which subtask of a process works next: as if each had a processor of its own."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from dataclasses import dataclass, field

from pyflink_on_spark._runtime.task.exchange import Row

SLOW_SECONDS = 0.01
"""How long a piece of work has to take to count. So the order of what is fast does not depend on
how fast it is."""

IDLE_SECONDS = 0.001
"""How long a source has to wait in vain for that to count."""


@dataclass(eq=False, slots=True)
class Unit:
    """What would be a thread of its own: a source with its chain, or the input of a subtask.

    Args:
        subtask_id: the number of the subtask.
        stage: how deep it lies.
        chain: the number of the chain that a source feeds; None for the input from exchanges.
        time: the virtual time (s) up to which it has worked.
        rows: what came in, with the virtual time at which it did.
        scheduled: whether it is in the schedule.
        place: its number among those that wait.
    """

    subtask_id: int
    stage: int
    chain: int | None = None
    time: float = 0.0
    rows: deque[tuple[float, Row]] = field(default_factory=deque)
    scheduled: bool = False
    place: int = 0


class Schedule:
    """Picks the unit that would work first if all worked at the same time.

    Each unit has a virtual time. Slow work moves it forward, and what is sent arrives at the
    virtual time of its sender: so what a slow function holds up is only what follows it, as in
    Flink, where subtasks are threads. Of those that could work at the same time the one furthest
    downstream comes first, then the one that waits longest.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, int, Unit]] = []
        self._numbers = itertools.count()
        self.now = 0.0
        """The virtual time (s) at which the last unit began to work."""

    def __bool__(self) -> bool:
        return bool(self._heap)

    def add(self, unit: Unit) -> None:
        """Let a unit wait for its turn."""
        if not unit.scheduled:
            unit.place = next(self._numbers)
            self.put_back(unit)

    def put_back(self, unit: Unit) -> None:
        """Let a unit that could not have its turn wait where it waited before."""
        if not unit.scheduled:
            unit.scheduled = True
            start = max(unit.time, unit.rows[0][0]) if unit.rows else unit.time
            heapq.heappush(self._heap, (start, -unit.stage, unit.place, unit))

    def add_all(self, units: list[Unit]) -> None:
        """Let units wait for their turns, and empty the list."""
        for unit in units:
            self.add(unit)
        units.clear()

    def pick(self) -> Unit:
        """Return the unit whose turn it is, and take it out."""
        start, _, _, unit = heapq.heappop(self._heap)
        unit.scheduled, unit.time = False, start
        return unit

    def spend(self, unit: Unit, seconds: float) -> None:
        """Take note of what a unit's work has taken."""
        self.now = max(self.now, unit.time)
        if seconds >= SLOW_SECONDS:
            unit.time += seconds

    def wait(self, unit: Unit, seconds: float) -> None:
        """Take note of how long (s) a unit waited in vain, so that others have their turns."""
        if seconds >= IDLE_SECONDS:
            unit.time = max(unit.time, self.now) + seconds

    def catch_up(self, unit: Unit) -> None:
        """Bring a unit that had nothing to do, or had to wait, up to the present."""
        unit.time = max(unit.time, self.now)
