"""The first row of each key by event time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.late_rows import LateRows
from pyflink_on_spark._runtime.state.keyed_timers import millisecond_from
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "rows"
_MICROS = 1000
_EMITTED = ()


class FirstRowOperator(KeyedProgramOperator):
    """Gives the first row of each key by event time, when the watermark has reached it.

    Rows that the watermark has passed are dropped, those of new keys too. The state of a key is its
    first row up to now, and an empty one once that has been emitted.

    Args:
        time: the position of the time attribute.
        ttl: how long (ms) the state of a key is kept; 0 for always.
    """

    def __init__(self, time: int, ttl: int = 0) -> None:
        self._time, self._ttl = time, ttl

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._first = self._state(context, STATE_NAME, self._ttl)
        self._late = LateRows(context)
        self._watermark = MIN_TIMESTAMP * _MICROS
        self._due = self._timers(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        rows, note, register = self._first.current, self._first.note, self._due.register
        place, watermark = self._time, self._watermark
        for key, row in elements:
            time = row[place]
            if time < watermark:
                self._late.drop()
                continue
            first = rows.get(key)
            if first is not None and (not first or first[place] <= time):
                continue
            rows[key] = row
            register(millisecond_from(time), key, None)
            note(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the first rows that are not later."""
        self._watermark = watermark * _MICROS
        rows, note = self._first.current, self._first.note
        for _, key, _ in self._due.until(watermark):
            first = rows.get(key)
            if first:
                rows[key] = _EMITTED
                note(key)
                yield first
