"""Joins of rows whose times are close to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.operator import Operator, Process
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._runtime.state.table import StateTable
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.operators.due_times import DueTimes

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_MICROS = 1000
_TIME, _ROW, _JOINED = 0, 1, 2


class IntervalJoinOperator(Operator):
    """Keeps the rows of both sides until no partner of theirs can come.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        outer: whether rows without partners are kept, for both sides.
        null_keys: for each side a function that tells whether a key has NULL, or None.
        times: the positions of the time attributes, for both sides; None for the clock.
        lower: the least that the right time is after the left time (microseconds).
        upper: the most.
    """

    keyed = True
    frozen = True
    sorted_in_batch = False

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        outer: tuple[bool, bool],
        null_keys: tuple[Program | None, Program | None],
        times: tuple[int, int] | None,
        lower: int,
        upper: int,
    ) -> None:
        self._condition, self._widths, self._outer = condition, widths, outer
        self._null_keys, self._times = null_keys, times
        # For each side: how much later partners are at least, and at most.
        self._distances = (lower, upper), (-upper, -lower)
        if times is not None:
            self.watermark_delay = max(upper, -lower, 0) // _MICROS

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        self._matches: Callable[[Any, Any], Any] | None = None
        if self._condition is not None:
            self._matches = self._condition.load(context).function
        self._has_null = [
            None if program is None else program.load(context).function
            for program in self._null_keys
        ]
        backend = keyed_state_of(context)
        self._tables = (backend.table("left", "value"), backend.table("right", "value"))
        self._now = context.clock.now
        self._reached = MIN_TIMESTAMP * _MICROS
        self._due = DueTimes()
        for side, table in enumerate(self._tables):
            for key, entries in table.current.items():
                for entry in entries:
                    self._due.add(entry[_TIME] + self._distances[side][1], (side, key))

    def inputs(self) -> tuple[Process, ...]:
        """Return what processes the elements of each input."""
        return self._left, self._right

    def _left(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._joined(elements, 0)

    def _right(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._joined(elements, 1)

    def _joined(self, elements: Iterator[Any], side: int) -> Iterator[Any]:
        own, others = self._tables[side], self._tables[1 - side]
        _, upper = self._distances[side]
        place = None if self._times is None else self._times[side]
        has_null, outer = self._has_null[side], self._outer[side]
        for key, row in elements:
            time = self._now() * _MICROS if place is None else row[place]
            if time is None or (has_null is not None and has_null(row)):
                if outer:
                    yield self._both(row, None, side)
                continue
            entry = [time, row, False]
            last = time + upper
            for other in self._partners(others.current.get(key, ()), row, time, side):
                if not other[_JOINED]:
                    other[_JOINED] = True
                    _note(others, key)
                entry[_JOINED] = True
                yield row + other[_ROW] if side == 0 else other[_ROW] + row
            if last > self._reached:
                self._keep(own, key, entry)
                self._due.add(last, (side, key))
            elif outer and not entry[_JOINED]:
                yield self._both(row, None, side)

    def _partners(self, entries: Iterable[Any], row: Any, time: int, side: int) -> list[Any]:
        lower, upper = self._distances[side]
        first, last, matches = time + lower, time + upper, self._matches
        found = [entry for entry in entries if first <= entry[_TIME] <= last]
        if matches is None:
            return found
        if side == 0:
            return [entry for entry in found if matches(row, entry[_ROW])]
        return [entry for entry in found if matches(entry[_ROW], row)]

    @staticmethod
    def _keep(table: StateTable, key: Any, entry: Any) -> None:
        entries = table.current.get(key)
        if entries is None:
            table.current[key] = [entry]
        else:
            entries.append(entry)
        _note(table, key)

    def _both(self, row: Any, other: Any, side: int) -> Any:
        others = (None,) * self._widths[1 - side] if other is None else other
        return row + others if side == 0 else others + row

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the rows for which no partner has come."""
        return () if self._times is None else self._forget(watermark * _MICROS)

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the rows for which no partner has come."""
        return self._forget((now - 1) * _MICROS) if self._times is None else ()

    def _forget(self, reached: int) -> Iterator[Any]:
        self._reached = reached
        for _, (side, key) in self._due.until(reached):
            table, latest = self._tables[side], self._distances[side][1]
            entries = table.current.get(key)
            if entries is None:
                continue
            kept = [entry for entry in entries if entry[_TIME] + latest > reached]
            if len(kept) == len(entries):
                continue
            if kept:
                table.current[key] = kept
            else:
                del table.current[key]
            _note(table, key)
            if self._outer[side]:
                for entry in entries:
                    if entry[_TIME] + latest <= reached and not entry[_JOINED]:
                        yield self._both(entry[_ROW], None, side)


def _note(table: Any, key: Any) -> None:
    if table.changed is not None:
        table.changed.add((None, key))
