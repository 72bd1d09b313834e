"""Aggregates over windows, whole or in slices, and the first rows of windows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.timestamps import LateRows, register_watermark_latency
from pyflink_on_spark._runtime.state.timers import millisecond_from
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.windows import Slices
from pyflink_on_spark._sql.plan.nodes import WindowKind
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY, to_local

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_WINDOWS = "windows"
_MICROS = 1000
_LAST_DATE = 8000 * 365 * MICROS_PER_DAY


def last_millisecond(end: int) -> int:
    """Return the watermark (ms) that ends a window, whose end is in microseconds."""
    return millisecond_from(end - _MICROS)


class WindowOperator(KeyedProgramOperator):
    """The common part of all operators over windows: the times at which windows end.

    Args:
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(self, event_time: bool, zone: str | None) -> None:
        self._event_time, self._zone = event_time, zone
        self._reached = MIN_TIMESTAMP * _MICROS
        self._watermark = MIN_TIMESTAMP

    def open(self, context: OperatorContext) -> None:
        """Register the metrics."""
        self._late = LateRows(context, rate=True)
        register_watermark_latency(context, lambda: self._watermark)

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the results of the windows that end."""
        self._watermark = watermark
        return self._advance(watermark) if self._event_time else ()

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the results of the windows that end."""
        return () if self._event_time else self._advance(now)

    def next_processing_time(self) -> int | None:
        """Return None if watermarks end windows."""
        return None if self._event_time else 0

    def _advance(self, time: int) -> Iterable[object]:
        reached = time * _MICROS
        if self._zone is not None and abs(reached) < _LAST_DATE:
            reached = to_local(reached, self._zone)
        if reached <= self._reached:
            return ()
        self._reached = reached
        return self._ended(reached)

    def _ended(self, reached: int) -> Iterable[Any]:
        """Yield the results of windows whose last moment is not after a time (microseconds)."""
        raise NotImplementedError


class WindowAggregateOperator(WindowOperator):
    """Aggregates rows that have the start and the end of their window.

    Args:
        program: what ``compile_window_aggregate`` returns.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(self, program: Program, event_time: bool, zone: str | None) -> None:
        super().__init__(event_time, zone)
        self._program = program

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._add, self._rows = self._load(self._program, context)()
        self._groups = self._state(context, _WINDOWS)
        self._ends: set[Any] = set(self._groups.namespaces())

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing: results come when windows end."""
        self._add(elements, self._use, self._reached, self._late.drop)
        return iter(())

    def _use(self, end: int) -> tuple[object, Callable[[Any], object]]:
        self._ends.add(end)
        return self._groups.namespace(end)

    def _ended(self, reached: int) -> Iterable[object]:
        due = sorted(end for end in self._ends if end - _MICROS <= reached)
        for end in due:
            self._ends.discard(end)
            groups, _ = self._groups.namespace(end)
            yield from self._rows(groups.values())
            self._groups.remove(end)


class RowWindowAggregateOperator(KeyedProgramOperator):
    """Aggregates the rows of windows of a number of rows; those of unfinished windows are lost.

    Args:
        program: what ``compile_row_window_aggregate`` returns.
        size: how many rows a window has.
        step: after how many rows the next window begins.
    """

    def __init__(self, program: Program, size: int, step: int) -> None:
        self._program, self._size, self._step = program, size, step

    def open(self, context: OperatorContext) -> None:
        """Compile the function, and find the state."""
        self._run = self._load(self._program, context)
        self._groups = self._state(context, _WINDOWS)

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the results of the windows that get their last row."""
        groups = self._groups
        results: Iterator[object] = self._run(
            elements, groups.current, groups.note, self._size, self._step
        )
        return results


class SessionAggregateOperator(WindowOperator):
    """Aggregates rows of a key whose times are close to each other.

    A late row still counts in a session that has not ended.

    Args:
        program: what ``compile_session_aggregate`` returns.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(self, program: Program, event_time: bool, zone: str | None) -> None:
        super().__init__(event_time, zone)
        self._program = program

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        functions = self._load(self._program, context)()
        self._create, self._add, self._merge, self._extend, self._rows = functions
        self._sessions = self._state(context, _WINDOWS)
        self._due = self._timers(context, event_time=self._event_time)

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield nothing: results come when sessions end."""
        self._extend(elements, self._sessions.current, self._sessions.note, self._place)
        return iter(())

    def _place(self, key: object, element: Any) -> None:
        """Add an element to the sessions of its key."""
        sessions = self._sessions.current
        own = self._create(element)
        kept = []
        # A session ends before its end: one that begins there continues it.
        for other in sessions.get(key, ()):
            if other[1] <= own[2] and own[1] <= other[2]:
                own = self._united(other, own)
            else:
                kept.append(other)
        if own[2] - _MICROS <= self._reached:
            self._late.drop()
            return
        self._add(own, element)
        self._due.register(last_millisecond(own[2]), key, None)
        kept.append(own)
        sessions[key] = kept
        self._sessions.note(key)

    def _united(self, one: Any, two: Any) -> object:
        self._merge(one, two)
        one[1], one[2] = min(one[1], two[1]), max(one[2], two[2])
        return one

    def _ended(self, reached: int) -> Iterable[object]:
        sessions, note = self._sessions.current, self._sessions.note
        due = []
        for _, key, _ in self._due.until(reached // _MICROS):
            found = sessions.get(key, ())
            over = [session for session in found if session[2] - _MICROS <= reached]
            kept = [session for session in found if session[2] - _MICROS > reached]
            for session in kept:
                # It has become longer since.
                self._due.register(last_millisecond(session[2]), key, None)
            if not over:
                continue
            due += over
            if kept:
                sessions[key] = kept
            else:
                del sessions[key]
            note(key)
        due.sort(key=_end)
        yield from self._rows(due)


def _end(session: Any) -> Any:
    return session[2]


_SLICES = "slices"


class SliceAggregateOperator(WindowOperator):
    """Adds each row to one slice, and the slices of a window to each other when it ends.

    The first slice of cumulating windows has, as in Flink, what was in those that have ended.

    Args:
        program: what ``compile_slices`` returns.
        slices: the windows.
    """

    def __init__(self, program: Program, slices: Slices) -> None:
        super().__init__(not slices.by_clock, slices.zone)
        self._program, self._slices = program, slices

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        functions = self._load(self._program, context)()
        self._add, self._merged, self._carried, self._rows = functions
        self._groups = self._state(context, _SLICES)
        self._results = {
            WindowKind.HOP: self._hop,
            WindowKind.CUMULATE: self._cumulate,
            WindowKind.TUMBLE: self._tumble,
        }
        self._kept: set[Any] = set(self._groups.namespaces())
        self._due: set[Any] = set()
        for end in self._kept:
            self._due.update(self._windows(end))

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield nothing: results come when windows end."""
        self._add(elements, self._use, self._reached, self._late.drop)
        return iter(())

    def _use(self, end: int) -> tuple[object, Callable[[object], object]]:
        # A slice whose own window has ended still counts for later ones.
        if end - _MICROS <= self._reached and self._slices.kind is WindowKind.CUMULATE:
            steps = (self._reached + _MICROS - end) // self._slices.step + 1
            self._due.add(end + steps * self._slices.step)
            end = self._slices.first_slice(end)
            self._kept.add(end)
            return self._groups.namespace(end)
        if end not in self._kept or self._slices.kind is not WindowKind.HOP:
            self._kept.add(end)
            self._due.update(self._windows(end))
        return self._groups.namespace(end)

    def _windows(self, end: int) -> Iterable[int]:
        """Return the ends of the windows that end with a slice, or have it and have not ended."""
        slices = self._slices
        if slices.kind is not WindowKind.HOP:
            yield end
            return
        last = end - slices.length + slices.size
        for each in range(slices.first_end(end), last + 1, slices.step):
            if each - _MICROS > self._reached:
                yield each

    def _ended(self, reached: int) -> Iterable[Any]:
        while self._due:
            end = min(self._due)
            if end - _MICROS > reached:
                break
            self._due.discard(end)
            yield from self._results[self._slices.kind](end)

    def _hop(self, end: int) -> Iterator[object]:
        slices = self._slices
        first = end - slices.size + slices.length
        merged: dict[Any, Any] = {}
        for each in range(end, first - 1, -slices.length):  # the order of Flink, for lists
            if each in self._kept:
                self._merged(merged, self._groups.namespace(each)[0], end)
                self._groups.note_all(each)
        yield from self._rows(merged, end)
        for each in range(first, first + slices.step, slices.length):
            self._forget(each)

    def _tumble(self, end: int) -> Iterator[object]:
        yield from self._rows(self._groups.namespace(end)[0], end)
        self._forget(end)

    def _cumulate(self, end: int) -> Iterator[object]:
        slices = self._slices
        first = slices.first_slice(end)
        groups = self._groups.namespace(first)[0]
        self._kept.add(first)
        if end != first and end in self._kept:
            self._carried(groups, self._groups.namespace(end)[0])
            self._forget(end)
        yield from self._rows(groups, end)
        if (end - slices.offset) % slices.size:
            self._groups.note_all(first)
            self._due.add(end + slices.step)
        else:
            self._forget(first)

    def _forget(self, end: int) -> None:
        if end in self._kept:
            self._kept.discard(end)
            self._groups.remove(end)


_COMPARED = itemgetter(0)


class WindowTopNOperator(WindowOperator):
    """Gives the first rows of each key, of which the window is a part, when the window ends.

    Args:
        program: a function of a row that returns what is compared.
        offset: how many rows are left out first.
        end: the last rank that is kept.
        ranked: whether the rank is a column after those of the row.
        window_end: the position of the end of the window.
        last: whether of equal rows the one that comes last is the first one.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(
        self,
        program: Program,
        offset: int,
        end: int,
        *,
        ranked: bool,
        window_end: int,
        last: bool,
        event_time: bool,
        zone: str | None,
    ) -> None:
        super().__init__(event_time, zone)
        self._program, self._offset, self._end = program, offset, end
        self._ranked, self._window_end = ranked, window_end
        self._place = bisect_left if last else bisect_right

    def open(self, context: OperatorContext) -> None:
        """Compile the function, and find the state."""
        super().open(context)
        self._compared = self._load(self._program, context)
        self._groups = self._state(context, "rows")
        self._known = set(self._groups.namespaces())

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield nothing yet; rows of windows that have ended are dropped."""
        compare, place = self._compared, self._window_end
        reached, find = self._reached, self._place
        current: int | None = None
        groups: Any = None
        note: Any = None
        for key, row in elements:
            window_end = row[place]
            if window_end != current:
                if window_end - _MICROS <= reached:
                    self._late.drop()
                    continue
                self._known.add(window_end)
                current, (groups, note) = window_end, self._groups.namespace(window_end)
            rows = groups.get(key)
            if rows is None:
                rows = groups[key] = []
            compared = compare(row)
            rows.insert(find(rows, compared, key=_COMPARED), (compared, row))
            if len(rows) > self._end:
                rows.pop()
            note(key)
        return iter(())

    def _ended(self, reached: int) -> Iterable[object]:
        for end in sorted(end for end in self._known if end - _MICROS <= reached):
            self._known.discard(end)
            for rows in self._groups.namespace(end)[0].values():
                for index in range(self._offset, len(rows)):
                    row = rows[index][1]
                    yield (*row, index + 1) if self._ranked else row
            self._groups.remove(end)
