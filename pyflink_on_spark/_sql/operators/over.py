"""Functions over the rows around each row of a stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.late_rows import LateRows
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.operators.due_times import DueTimes
from pyflink_on_spark._sql.operators.expiry import Expiry

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

STATE_NAME = "frames"
_MICROS = 1000
_ACCUMULATOR, _FRAME, _PENDING, _LAST = 0, 1, 2, 3


class FrameOperator(Operator):
    """What functions over frames of streams have in common: the frame, and its accumulator.

    A frame holds pairs of the time and the row, if it does not begin with the first row.

    Args:
        program: what ``compile_frame`` returns.
        rows: whether the frame counts rows, and not time.
        preceding: how many rows, or microseconds, it goes back; None for the first row.
        ttl: after how long without a change (ms) a key is forgotten; 0 for never.
    """

    keyed = True
    frozen = True
    sorted_in_batch = False

    def __init__(self, program: Program, rows: bool, preceding: int | None, ttl: int = 0) -> None:
        self._program, self._rows, self._preceding, self._ttl = program, rows, preceding, ttl

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        self._loaded = self._program.load(context)
        self._create, self._add, self._retract, self._values = self._loaded.function()
        self._table = keyed_state_of(context).table(STATE_NAME, "value")
        self._expiry = Expiry(self._ttl, context, [self._table])
        self._clock = context.clock

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Forget keys that have not changed for too long."""
        self._expiry.sweep(now)
        return ()

    def close(self) -> None:
        """Close what the functions hold."""
        if hasattr(self, "_loaded"):
            self._loaded.close()

    def _group(self, key: Any) -> list[Any]:
        group: list[Any] | None = self._table.current.get(key)
        if group is None:
            group = self._table.current[key] = [
                self._create(),
                deque(),
                {},
                MIN_TIMESTAMP * _MICROS,
            ]
        return group

    def _note(self, key: Any) -> None:
        if self._ttl:
            self._expiry.touch(key)
        if self._table.changed is not None:
            self._table.changed[None].add(key)

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

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._late = LateRows(context)
        self._reached = MIN_TIMESTAMP * _MICROS
        self._due = DueTimes()
        for key, group in self._table.current.items():
            for time in group[_PENDING]:
                self._due.add(time, key)
            if group[_FRAME]:
                self._forget_later(group, key)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        place, reached, bounded = self._time, self._reached, self._preceding is not None
        for key, row in elements:
            time = row[place]
            if time <= reached and not bounded:
                self._late.drop()
                continue
            group = self._group(key)
            if time <= group[_LAST]:
                self._late.drop()
                continue
            pending = group[_PENDING]
            rows = pending.get(time)
            if rows is None:
                pending[time] = [row]
                self._due.add(time, key)
            else:
                rows.append(row)
            self._note(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the rows that are not later."""
        self._reached = watermark * _MICROS + _MICROS - 1
        for time, key in self._due.until(self._reached):
            group = self._table.current.get(key)
            if group is None:
                continue
            rows = group[_PENDING].pop(time, None)
            if rows is None:
                self._forget(key, group, time)
            else:
                group[_LAST] = time
                yield from self._results(group, time, rows)
                self._forget_later(group, key)
            self._note(key)

    def _forget_later(self, group: list[Any], key: Any) -> None:
        if not self._rows and self._preceding is not None:
            self._due.add(group[_FRAME][-1][0] + self._preceding + 1, key)

    def _forget(self, key: Any, group: list[Any], time: int) -> None:
        """Forget a key that no row of the frame's width is there of."""
        frame, preceding = group[_FRAME], self._preceding or 0
        if not group[_PENDING] and frame and frame[-1][0] + preceding < time:
            del self._table.current[key]


class ArrivalOverOperator(FrameOperator):
    """Computes frames in the order in which rows come."""

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with their values."""
        for key, row in elements:
            group = self._group(key)
            yield from self._results(group, self._clock.now() * _MICROS, [row])
            self._note(key)
