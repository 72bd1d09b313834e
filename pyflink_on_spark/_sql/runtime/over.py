"""Functions over the rows around each row of a stream."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.timestamps import LateRows
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_FRAMES = "frames"
_MICROS = 1000
_ACCUMULATOR, _FRAME, _PENDING, _LAST = 0, 1, 2, 3


class FrameOperator(KeyedProgramOperator):
    """The common part of functions over frames of streams: the frame, and its accumulator.

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
        self._groups = self._state(context, _FRAMES, self._ttl)
        self._clock = context.clock

    def _group(self, key: object) -> list[Any]:
        group: list[Any] | None = self._groups.current.get(key)
        if group is None:
            group = [self._create(), deque(), {}, MIN_TIMESTAMP * _MICROS]
            self._groups.current[key] = group
        return group

    def _results(self, group: list[Any], time: int, rows: list[object]) -> Iterator[object]:
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

    def advance_watermark(self, watermark: int) -> Iterable[object]:
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

    def _forget_later(self, group: list[Any], key: object) -> None:
        if not self._rows and self._preceding is not None:
            last = group[_FRAME][-1][0] + self._preceding
            self._due.register(last // _MICROS + 1, key, None)

    def _forget(self, key: object, group: list[Any], due: int) -> None:
        """Forget a key that no row of the frame's width is there of."""
        frame, preceding = group[_FRAME], self._preceding or 0
        if not group[_PENDING] and frame and frame[-1][0] + preceding < due * _MICROS:
            del self._groups.current[key]


class ArrivalOverOperator(FrameOperator):
    """Computes frames in the order in which rows come."""

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the rows with their values."""
        for key, row in elements:
            group = self._group(key)
            yield from self._results(group, self._clock.now() * _MICROS, [row])
            self._groups.note(key)


_ORDERED = "ordered"
_ADDED = frozenset({INSERT, UPDATE_AFTER})
_ATOMS = frozenset({int, float, str, bytes, bool, tuple, type(None)})


class OrderedOverOperator(KeyedProgramOperator):
    """Keeps the rows of a key in order; a row that comes or goes changes those that follow.

    Rows with one value of functions are a step: each row by itself if the frame counts rows, else
    all rows that are equal in the order. A key has the lists of what steps are ordered by, of their
    rows, and of the accumulators that they end with.

    Args:
        program: what ``compile_frame`` returns.
        order: a function of a row that returns what rows are ordered by.
        rows: whether the frame counts rows.
        changelog: whether elements are pairs of the kind and the row.
        before: whether each update gets its UPDATE_BEFORE row.
        ttl: after how long without a change (ms) a key is forgotten; 0 for never.
    """

    def __init__(
        self,
        program: Program,
        order: Program,
        *,
        rows: bool,
        changelog: bool,
        before: bool,
        ttl: int,
    ) -> None:
        self._program, self._order, self._rows = program, order, rows
        self._changelog, self._before, self._ttl = changelog, before, ttl

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        self._create, self._add, _, self._values = self._load(self._program, context)()
        self._place_of = self._load(self._order, context)
        self._groups = self._state(context, _ORDERED, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the changes of all rows that a row changes."""
        groups, note = self._groups.current, self._groups.note
        place_of, pairs = self._place_of, self._changelog
        for key, element in elements:
            kind, row = element if pairs else (INSERT, element)
            group = groups.get(key)
            if group is None:
                group = groups[key] = ([], [], [])
            change = self._insert if kind in _ADDED else self._remove
            yield from change(group, place_of(row), kind, row)
            if not group[0]:
                del groups[key]
            note(key)

    def _insert(self, group: Any, place: object, kind: int, row: object) -> Iterator[object]:
        places, steps, accumulators = group
        index = bisect_right(places, place)
        if not self._rows and index and places[index - 1] == place:
            index -= 1
            others, old = steps[index], accumulators[index]
            new = self._after(self._start(accumulators, index), [*others, row])
            if new != old:
                yield from self._updates(others, old, new)
            others.append(row)
            accumulators[index] = new
        else:
            new = self._after(self._start(accumulators, index), [row])
            places.insert(index, place)
            steps.insert(index, [row])
            accumulators.insert(index, new)
        yield kind, row + self._values(new)
        yield from self._following(group, index + 1)

    def _remove(self, group: Any, place: object, _kind: int, row: object) -> Iterator[object]:
        places, steps, accumulators = group
        found = self._find(places, steps, place, row)
        if found is None:
            return
        index, number = found
        rows, old = steps[index], accumulators[index]
        gone = rows.pop(number)
        if rows:
            new = accumulators[index] = self._after(self._start(accumulators, index), rows)
            if new != old:
                yield from self._updates(rows[:number], old, new)
            yield DELETE, gone + self._values(old)
            if new != old:
                yield from self._updates(rows[number:], old, new)
            index += 1
        else:
            del places[index], steps[index], accumulators[index]
            yield DELETE, gone + self._values(old)
        yield from self._following(group, index)

    @staticmethod
    def _find(
        places: list[Any], steps: list[Any], place: object, row: object
    ) -> tuple[int, int] | None:
        """Return the step of the first row that equals one, and its number there."""
        index = bisect_left(places, place)
        while index < len(places) and places[index] == place:
            if row in steps[index]:
                return index, steps[index].index(row)
            index += 1
        return None

    def _following(self, group: Any, index: int) -> Iterator[object]:
        """Yield the changes of later steps, up to the first that stays as it was."""
        _, steps, accumulators = group
        for number in range(index, len(steps)):
            old = accumulators[number]
            new = self._after(self._start(accumulators, number), steps[number])
            if new == old:
                return
            accumulators[number] = new
            yield from self._updates(steps[number], old, new)

    def _start(self, accumulators: list[Any], index: int) -> object:
        """Return an accumulator of all rows before a step."""
        if index == 0:
            return self._create()
        return [
            value if type(value) in _ATOMS else deepcopy(value) for value in accumulators[index - 1]
        ]

    def _after(self, accumulator: object, rows: Iterable[object]) -> object:
        for row in rows:
            self._add(accumulator, row)
        return accumulator

    def _updates(self, rows: Iterable[object], old: object, new: object) -> Iterator[object]:
        before, after = self._values(old), self._values(new)
        for row in rows:
            if self._before:
                yield UPDATE_BEFORE, row + before
            yield UPDATE_AFTER, row + after


@dataclass(frozen=True)
class RankedColumn:
    """A function of the place of rows in an order.

    Args:
        column: computes it for a whole group.
        args: for each argument a function of a row.
    """

    column: Callable[..., list[Any]]
    args: tuple[Program, ...]


@dataclass(frozen=True)
class FrameBounds:
    """The bounds of a row's frame.

    Args:
        rows: whether the bounds count rows, and not the distance of values.
        lower: as a distance from the row; None for the first row.
        upper: as a distance from the row; None for the last row.
        value: the value that distances are measured in, as a function of a row; None if no bound
            is a distance of values.
        descending: whether values get smaller.
    """

    rows: bool
    lower: int | None
    upper: int | None
    value: Program | None = None
    descending: bool = False


class BatchOverOperator(Operator):
    """Orders each group at the end, and gives its rows with the values of functions.

    Args:
        order: a function of a row that returns what is compared.
        columns: for each function how it is computed: an index into the values of the frame, or
            what is computed of the places of rows.
        frame: what ``compile_frame`` returns, or None.
        bounds: which rows count for the frame.
    """

    emits_immutable = True

    def __init__(
        self,
        order: Program,
        columns: Sequence[int | RankedColumn],
        frame: Program | None,
        bounds: FrameBounds,
    ) -> None:
        self._order, self._columns, self._frame = order, tuple(columns), frame
        self._bounds = bounds

    def open(self, context: OperatorContext) -> None:
        """Compile the functions."""
        self._key = self._order.load(context).function
        self._ranked = [
            None
            if isinstance(column, int)
            else [program.load(context).function for program in column.args]
            for column in self._columns
        ]
        if self._frame is not None:
            self._create, self._add, self._retract, self._values = self._frame.load(
                context
            ).function()
        value = self._bounds.value
        self._value = None if value is None else value.load(context).function
        self._groups: dict[Any, list[Any]] = {}

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        groups = self._groups
        for key, row in elements:
            groups.setdefault(key, []).append(row)
        return iter(())

    def end_input(self) -> Iterable[Any]:
        """Yield the rows."""
        for rows in self._groups.values():
            rows.sort(key=self._key)
            peers = _first_peers([self._key(row) for row in rows])
            framed = [] if self._frame is None else self._framed(rows, peers)
            columns = []
            for column, args in zip(self._columns, self._ranked):
                if isinstance(column, int):
                    columns.append([values[column] for values in framed])
                else:
                    given = ([arg(row) for row in rows] for arg in args or ())
                    columns.append(column.column(peers, *given))
            for row, values in zip(rows, zip(*columns)):
                yield row + values

    def _framed(self, rows: list[object], peers: list[int]) -> list[Any]:
        found = []
        start = end = 0
        accumulator = self._create()
        for first, last in self._frames(rows, peers):
            if (first > start and self._retract is None) or first < start or last < end:
                accumulator, start, end = self._create(), first, first
            while end < last:
                self._add(accumulator, rows[end])
                end += 1
            while start < min(first, end):
                self._retract(accumulator, rows[start])
                start += 1
            if first >= last:
                accumulator, start, end = self._create(), last, last
            found.append(self._values(accumulator))
        return found

    def _frames(self, rows: list[object], peers: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the first row of each frame, and the first one after it."""
        size, bounds = len(rows), self._bounds
        if bounds.rows:
            for index in range(size):
                first = 0 if bounds.lower is None else max(0, index + bounds.lower)
                last = size if bounds.upper is None else min(size, index + bounds.upper + 1)
                yield first, max(first, last)
            return
        ends = {first: index + 1 for index, first in enumerate(peers)}
        distances = None
        if self._value is not None:
            distances = _Distances([self._value(row) for row in rows], bounds.descending)
        for index, first in enumerate(peers):
            if distances is None or distances.is_null(index):
                yield (
                    0 if bounds.lower is None else first,
                    size if bounds.upper is None else ends[first],
                )
            else:
                yield distances.frame(index, bounds.lower, bounds.upper)


class _Distances:
    """Finds rows by the distance of their values; NULLs are before or after all values."""

    def __init__(self, values: list[Any], descending: bool) -> None:
        sign = -1 if descending else 1
        self._values = [None if value is None else sign * value for value in values]
        known = [index for index, value in enumerate(values) if value is not None]
        self._first, self._end = (known[0], known[-1] + 1) if known else (0, 0)

    def is_null(self, index: int) -> bool:
        return self._values[index] is None

    def frame(self, index: int, lower: int | None, upper: int | None) -> tuple[int, int]:
        values: list[Any] = self._values
        value = values[index]
        first, last = 0, len(values)
        if lower is not None:
            first = bisect_left(values, value + lower, self._first, self._end)
        if upper is not None:
            last = bisect_right(values, value + upper, self._first, self._end)
        return first, max(first, last)


def _first_peers(keys: list[object]) -> list[int]:
    """Return for each row the position of the first one that is equal in order."""
    peers: list[int] = []
    for index, key in enumerate(keys):
        peers.append(peers[-1] if index and keys[index - 1] == key else index)
    return peers
