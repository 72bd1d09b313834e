"""Joins of rows whose times are close to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.operator import Operator, Process
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.operators.due_times import DueTimes

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_MICROS = 1000
_TIME, _ROW, _JOINED = 0, 1, 2
_time_of = itemgetter(_TIME)
_CLEANUP, _EARLIEST, _ENTRIES = 0, 1, 2
_NEVER = (MAX_WATERMARK + 1) * _MICROS


class IntervalJoinOperator(Operator):
    """Keeps the rows of both sides until no partner of theirs can come.

    A late row still finds the partners that are there. State is, for each side and key, when to
    remove rows, a time before that of all rows, and the rows.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        outer: whether rows without partners are kept, for both sides.
        null_keys: for each side a function that tells whether a key has NULL, or None.
        times: the positions of the time attributes, for both sides; None for the clock.
        lower: the least that the right time is after the left time (microseconds).
        upper: the most.
        cleanup_delay: how long (ms) a row may stay after it has expired.
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
        cleanup_delay: int = 0,
    ) -> None:
        self._condition, self._widths, self._outer = condition, widths, outer
        self._null_keys, self._times = null_keys, times
        # For each side: how much later partners are at least, and at most.
        self._distances = (lower, upper), (-upper, -lower)
        self._never = lower > upper
        self._delay = (cleanup_delay + 1) * _MICROS
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
            for key, kept in table.current.items():
                self._due.add(kept[_CLEANUP], (side, key))

    def inputs(self) -> tuple[Process, ...]:
        """Return what processes the elements of each input."""
        return self._left, self._right

    def _left(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._joined(elements, 0)

    def _right(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._joined(elements, 1)

    def _joined(self, elements: Iterator[Any], side: int) -> Iterator[Any]:
        others = self._tables[1 - side]
        lower, upper = self._distances[side]
        place = None if self._times is None else self._times[side]
        has_null, outer, now = self._has_null[side], self._outer[side], self._now
        for key, row in elements:
            time = now() * _MICROS if place is None else row[place]
            if time is None or self._never or (has_null is not None and has_null(row)):
                if outer:
                    yield self._both(row, None, side)
                continue
            entry = [time, row, False]
            reached = self._reached if place is not None else time
            kept = others.current.get(key)
            if kept is not None:
                for other in self._partners(kept[_ENTRIES], row, time, side):
                    if not other[_JOINED]:
                        other[_JOINED] = True
                        _note(others, key)
                    entry[_JOINED] = True
                    yield row + other[_ROW] if side == 0 else other[_ROW] + row
                if kept[_EARLIEST] <= reached + lower - _MICROS:
                    yield from self._removed(kept, key, 1 - side, reached)
            if reached < time + upper:
                self._keep(side, key, entry)
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

    def _keep(self, side: int, key: Any, entry: Any) -> None:
        table, time = self._tables[side], entry[_TIME]
        kept = table.current.get(key)
        if kept is None:
            cleanup = time + self._distances[side][1] + self._delay
            table.current[key] = [cleanup, time, [entry]]
            self._due.add(cleanup, (side, key))
        else:
            kept[_ENTRIES].append(entry)
            kept[_EARLIEST] = min(kept[_EARLIEST], time)
        _note(table, key)

    def _removed(self, kept: Any, key: Any, side: int, reached: int) -> Iterator[Any]:
        """Remove the rows of a key that have expired; yield those that had no partner."""
        expired = reached - self._distances[side][1] - _MICROS
        entries = kept[_ENTRIES]
        kept[_ENTRIES] = [entry for entry in entries if entry[_TIME] > expired]
        kept[_EARLIEST] = min(map(_time_of, kept[_ENTRIES]), default=_NEVER)
        _note(self._tables[side], key)
        if self._outer[side]:
            for entry in entries:
                if entry[_TIME] <= expired and not entry[_JOINED]:
                    yield self._both(entry[_ROW], None, side)

    def _both(self, row: Any, other: Any, side: int) -> Any:
        others = (None,) * self._widths[1 - side] if other is None else other
        return row + others if side == 0 else others + row

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the rows for which no partner has come."""
        if self._times is None:
            return ()
        self._reached = watermark * _MICROS
        return self._clean_up(self._reached)

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the rows for which no partner has come."""
        return self._clean_up(now * _MICROS) if self._times is None else ()

    def _clean_up(self, reached: int) -> Iterator[Any]:
        for _, (side, key) in self._due.until(reached):
            table, upper = self._tables[side], self._distances[side][1]
            kept = table.current[key]
            yield from self._removed(kept, key, side, reached)
            if kept[_ENTRIES]:
                kept[_CLEANUP] = kept[_EARLIEST] + upper + self._delay
                self._due.add(kept[_CLEANUP], (side, key))
            else:
                del table.current[key]


def _note(table: Any, key: Any) -> None:
    if table.changed is not None:
        table.changed[None].add(key)
