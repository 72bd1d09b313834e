"""The first row of each key by event time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.late_rows import LateRows
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._sql.operators.due_times import DueTimes

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

STATE_NAME = "rows"
_MICROS = 1000
_EMITTED = ()


class FirstRowOperator(Operator):
    """Gives the first row of each key by event time, when the watermark has reached it.

    Rows that the watermark has passed are dropped, those of new keys too. The state of a key is its
    first row up to now, and an empty one once that has been emitted.

    Args:
        time: the position of the time attribute.
    """

    keyed = True
    frozen = True
    sorted_in_batch = False

    def __init__(self, time: int) -> None:
        self._time = time

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._table = keyed_state_of(context).table(STATE_NAME, "value")
        self._late = LateRows(context)
        self._watermark = MIN_TIMESTAMP * _MICROS
        self._due = DueTimes()
        for key, row in self._table.current.items():
            if row:
                self._due.add(row[self._time], key)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        rows, changed = self._table.current, self._table.changed
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
            self._due.add(time, key)
            if changed is not None:
                changed[None].add(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the first rows that are not later."""
        self._watermark = watermark * _MICROS
        rows, changed = self._table.current, self._table.changed
        for _, key in self._due.until(self._watermark):
            first = rows.get(key)
            if first:
                rows[key] = _EMITTED
                if changed is not None:
                    changed[None].add(key)
                yield first
