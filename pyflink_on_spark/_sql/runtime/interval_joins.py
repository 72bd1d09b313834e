"""Joins of rows whose times are close to each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.state.keyed_timers import millisecond_from
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.contract.operator import Process

_MICROS = 1000
_TIME, _ROW, _JOINED = 0, 1, 2
_time_of = itemgetter(_TIME)
_CLEANUP, _EARLIEST, _ENTRIES = 0, 1, 2
_NEVER = (MAX_WATERMARK + 1) * _MICROS


class IntervalJoinOperator(KeyedProgramOperator):
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
        self._matches = self._load(self._condition, context)
        self._has_null = [self._load(program, context) for program in self._null_keys]
        self._sides = self._state(context, "left"), self._state(context, "right")
        self._now = context.clock.now
        self._reached = MIN_TIMESTAMP * _MICROS
        self._due = self._timers(context, event_time=self._times is not None)

    def inputs(self) -> tuple[Process, ...]:
        """Return what processes the elements of each input."""
        return self._left, self._right

    def _left(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._joined(elements, 0)

    def _right(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._joined(elements, 1)

    def _joined(self, elements: Iterator[Any], side: int) -> Iterator[Any]:
        others = self._sides[1 - side]
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
                        others.note(key)
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
        rows, time = self._sides[side], entry[_TIME]
        kept = rows.current.get(key)
        if kept is None:
            cleanup = time + self._distances[side][1] + self._delay
            rows.current[key] = [cleanup, time, [entry]]
            self._due.register(millisecond_from(cleanup), key, side)
        else:
            kept[_ENTRIES].append(entry)
            kept[_EARLIEST] = min(kept[_EARLIEST], time)
        rows.note(key)

    def _removed(self, kept: Any, key: Any, side: int, reached: int) -> Iterator[Any]:
        """Remove the rows of a key that have expired; yield those that had no partner."""
        expired = reached - self._distances[side][1] - _MICROS
        entries = kept[_ENTRIES]
        kept[_ENTRIES] = [entry for entry in entries if entry[_TIME] > expired]
        kept[_EARLIEST] = min(map(_time_of, kept[_ENTRIES]), default=_NEVER)
        self._sides[side].note(key)
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
        for _, key, side in self._due.until(reached // _MICROS):
            assert isinstance(side, int)
            rows, upper = self._sides[side], self._distances[side][1]
            kept = rows.current[key]
            yield from self._removed(kept, key, side, reached)
            if kept[_ENTRIES]:
                kept[_CLEANUP] = kept[_EARLIEST] + upper + self._delay
                self._due.register(millisecond_from(kept[_CLEANUP]), key, side)
            else:
                del rows.current[key]
