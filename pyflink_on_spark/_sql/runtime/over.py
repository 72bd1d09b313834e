"""Functions over the rows around each row of a stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.late_rows import LateRows
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "frames"
_MICROS = 1000
_ACCUMULATOR, _FRAME, _PENDING, _LAST = 0, 1, 2, 3


class FrameOperator(KeyedProgramOperator):
    """What functions over frames of streams have in common: the frame, and its accumulator.

    A frame holds pairs of the time and the row, if it does not begin with the first row.

    Args:
        program: what ``compile_frame`` returns.
        rows: whether the frame counts rows, and not time.
        preceding: how many rows, or microseconds, it goes back; None for the first row.
        ttl: after how long without a change (ms) a key is forgotten; 0 for never.
    """

    def __init__(self, program: Program, rows: bool, preceding: int | None, ttl: int = 0) -> None:
        self._program, self._rows, self._preceding, self._ttl = program, rows, preceding, ttl

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        functions = self._load(self._program, context)()
        self._create, self._add, self._retract, self._values = functions
        self._groups = self._state(context, STATE_NAME, self._ttl)
        self._clock = context.clock

    def _group(self, key: Any) -> list[Any]:
        group: list[Any] | None = self._groups.current.get(key)
        if group is None:
            group = [self._create(), deque(), {}, MIN_TIMESTAMP * _MICROS]
            self._groups.current[key] = group
        return group

    def _results(self, group: list[Any], time: int, rows: list[Any]) -> Iterator[Any]:
        """Yield rows of one time with their values."""
        if self._rows:
            for row in rows:
                self._enter(group, time, row)
                if self._preceding is not None:
                    self._leave(group, len(group[_FRAME]) - self._preceding - 1)
                yield row + self._values(group[_ACCUMULATOR])
            return
        for row in rows:
            self._enter(group, time, row)
        if self._preceding is not None:
            first = time - self._preceding
            gone = 0
            for other, _ in group[_FRAME]:
                if other >= first:
                    break
                gone += 1
            self._leave(group, gone)
        values = self._values(group[_ACCUMULATOR])
        for row in rows:
            yield row + values

    def _enter(self, group: list[Any], time: int, row: Any) -> None:
        self._add(group[_ACCUMULATOR], row)
        if self._preceding is not None:
            group[_FRAME].append((time, row))

    def _leave(self, group: list[Any], count: int) -> None:
        """Take the first rows out of the frame."""
        frame = group[_FRAME]
        if count <= 0:
            return
        gone = [frame.popleft()[1] for _ in range(count)]
        if self._retract is not None:
            for row in gone:
                self._retract(group[_ACCUMULATOR], row)
            return
        accumulator = group[_ACCUMULATOR] = self._create()
        for _, row in frame:
            self._add(accumulator, row)


class OverOperator(FrameOperator):
    """Computes frames in the order of event time, when the watermark has passed a row.

    Rows that are late are dropped: those that the watermark has passed, or, if the frame does not
    begin with the first row, those that a later row of the key has come out before.

    Args:
        program: what ``compile_frame`` returns.
        time: the position of the time attribute.
        rows: whether the frame counts rows, and not time.
        preceding: how many rows, or microseconds, it goes back; None for the first row.
        ttl: after how long without a change (ms) a key is forgotten; 0 for never.
    """

    def __init__(
        self, program: Program, time: int, rows: bool, preceding: int | None, ttl: int = 0
    ) -> None:
        super().__init__(program, rows, preceding, ttl)
        self._time = time
        self._time_of = itemgetter(time)

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._late = LateRows(context)
        self._reached = MIN_TIMESTAMP * _MICROS
        self._due = self._timers(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        place, reached, bounded = self._time, self._reached, self._preceding is not None
        note, register = self._groups.note, self._due.register
        for key, row in elements:
            time = row[place]
            if time <= reached and not bounded:
                self._late.drop()
                continue
            group = self._group(key)
            if time <= group[_LAST]:
                self._late.drop()
                continue
            pending, millisecond = group[_PENDING], time // _MICROS
            rows = pending.get(millisecond)
            if rows is None:
                pending[millisecond] = [row]
                register(millisecond, key, None)
            else:
                rows.append(row)
            note(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the rows that are not later."""
        self._reached = watermark * _MICROS + _MICROS - 1
        groups = self._groups
        for due, key, _ in self._due.until(watermark):
            group = groups.current.get(key)
            if group is None:
                continue
            rows = group[_PENDING].pop(due, None)
            groups.note(key)
            if rows is None:
                self._forget(key, group, due)
                continue
            if len(rows) == 1:
                time = group[_LAST] = rows[0][self._time]
                yield from self._results(group, time, rows)
            else:
                rows.sort(key=self._time_of)
                for time, simultaneous in groupby(rows, self._time_of):
                    group[_LAST] = time
                    yield from self._results(group, time, list(simultaneous))
            self._forget_later(group, key)

    def _forget_later(self, group: list[Any], key: Any) -> None:
        if not self._rows and self._preceding is not None:
            last = group[_FRAME][-1][0] + self._preceding
            self._due.register(last // _MICROS + 1, key, None)

    def _forget(self, key: Any, group: list[Any], due: int) -> None:
        """Forget a key that no row of the frame's width is there of."""
        frame, preceding = group[_FRAME], self._preceding or 0
        if not group[_PENDING] and frame and frame[-1][0] + preceding < due * _MICROS:
            del self._groups.current[key]


class ArrivalOverOperator(FrameOperator):
    """Computes frames in the order in which rows come."""

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with their values."""
        for key, row in elements:
            group = self._group(key)
            yield from self._results(group, self._clock.now() * _MICROS, [row])
            self._groups.note(key)
