"""The slots that live in one process, from micro-batch to micro-batch."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyflink_on_spark._runtime.elements.time import Clock, SystemClock
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._spark.structured.pace import Bell
from pyflink_on_spark._spark.structured.slot import LevelPlan, OutRow, QuerySlot
from pyflink_on_spark._spark.structured.state_log import Head, StateLog


@dataclass(frozen=True)
class _Place:
    """A slot in a run of a query."""

    attempt: int
    level: int
    slot: int


class Worker:
    """Runs slots, and keeps them for the next micro-batch.

    A slot is kept with the head of its log. If the state store has another head then, the
    micro-batch has failed after the slot was done with it, or another process has run the slot
    meanwhile: it is restored from the store.

    Args:
        clock: processing time.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._slots: dict[_Place, QuerySlot] = {}

    def run(
        self,
        plan: LevelPlan,
        number: int,
        batch: int,
        rows: Sequence[ChannelRow],
        log: StateLog,
        wishes: Collection[str] = (),
        bell: Bell | None = None,
    ) -> list[OutRow]:
        """Let a slot process a micro-batch; return what leaves its level.

        Args:
            plan: what its level runs.
            number: which slot.
            batch: which micro-batch.
            rows: what came in.
            log: where its state is.
            wishes: what the driver wants.
            bell: ends the waiting of slots for input.
        """
        place = _Place(plan.attempt, plan.number, number)
        slot = self._living(place, log)
        if slot is None:
            slot = QuerySlot(plan, number, log, self._clock, batch)
        try:
            leaving = slot.run(batch, rows, log, wishes, bell)
        except BaseException:
            _leave(slot)
            raise
        self._slots[place] = slot
        return leaving

    def _living(self, place: _Place, log: StateLog) -> QuerySlot | None:
        """Return, and take out, a slot, if it is as the store has it."""
        slot = self._slots.pop(place, None)
        if slot is not None and slot.head != (log.head() or Head()):
            _leave(slot)
            return None
        return slot

    def leave_all(self) -> None:
        """Close everything, as if the process was about to end."""
        while self._slots:
            _leave(self._slots.popitem()[1])


def _leave(slot: QuerySlot) -> None:
    with contextlib.suppress(Exception):
        slot.close(failed=True)
