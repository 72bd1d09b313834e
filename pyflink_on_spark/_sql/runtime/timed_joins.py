"""Joins with bounds of time: intervals, windows, versions of a table."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Process
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.timestamps import LateRows, register_watermark_latency
from pyflink_on_spark._runtime.state.timers import millisecond_from
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_BEFORE
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator
from pyflink_on_spark._sql.runtime.windows import WindowOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


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
        """Return the functions that process the two inputs."""
        return self._left, self._right

    def _left(self, elements: Iterator[object]) -> Iterator[Any]:
        return self._joined(elements, 0)

    def _right(self, elements: Iterator[object]) -> Iterator[object]:
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

    def _partners(self, entries: Iterable[Any], row: object, time: int, side: int) -> list[Any]:
        lower, upper = self._distances[side]
        first, last, matches = time + lower, time + upper, self._matches
        found = [entry for entry in entries if first <= entry[_TIME] <= last]
        if matches is None:
            return found
        if side == 0:
            return [entry for entry in found if matches(row, entry[_ROW])]
        return [entry for entry in found if matches(entry[_ROW], row)]

    def _keep(self, side: int, key: object, entry: Any) -> None:
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

    def _removed(self, kept: Any, key: object, side: int, reached: int) -> Iterator[object]:
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

    def _both(self, row: Any, other: object, side: int) -> object:
        others = (None,) * self._widths[1 - side] if other is None else other
        return row + others if side == 0 else others + row

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the rows for which no partner has come."""
        if self._times is None:
            return ()
        self._reached = watermark * _MICROS
        return self._clean_up(self._reached)

    def advance_processing_time(self, now: int) -> Iterable[object]:
        """Yield the rows for which no partner has come."""
        return self._clean_up(now * _MICROS) if self._times is None else ()

    def next_processing_time(self) -> int | None:
        """Return None if watermarks clean up."""
        return 0 if self._times is None else None

    def _clean_up(self, reached: int) -> Iterator[object]:
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


class WindowJoinOperator(WindowOperator):
    """Keeps the rows of both sides, by key and window, and joins them when the window ends.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        outer: whether rows without partners are kept, for both sides.
        null_keys: for each side a function that tells whether a key has NULL, or None.
        ends: the positions of the ends of windows, for both sides.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        outer: tuple[bool, bool],
        null_keys: tuple[Program | None, Program | None],
        ends: tuple[int, int],
        event_time: bool,
        zone: str | None,
    ) -> None:
        super().__init__(event_time, zone)
        self._condition, self._widths, self._outer = condition, widths, outer
        self._null_keys, self._ends = null_keys, ends

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        register_watermark_latency(context, lambda: self._watermark)
        self._late_rows = (
            LateRows(context, "left", rate=True),
            LateRows(context, "right", rate=True),
        )
        self._matches = self._load(self._condition, context)
        self._has_null = [self._load(program, context) for program in self._null_keys]
        self._windows = self._state(context, "windows")
        self._known = set(self._windows.namespaces())

    def inputs(self) -> tuple[Process, ...]:
        """Return the functions that process the two inputs."""
        return self._left, self._right

    def _left(self, elements: Iterator[object]) -> Iterator[object]:
        return self._kept(elements, 0)

    def _right(self, elements: Iterator[object]) -> Iterator[object]:
        return self._kept(elements, 1)

    def _kept(self, elements: Iterator[Any], side: int) -> Iterator[Any]:
        """Keep rows; late ones are dropped."""
        place, reached, late = self._ends[side], self._reached, self._late_rows[side].drop
        current: int | None = None
        keys: Any = None
        note: Any = None
        for key, row in elements:
            end = row[place]
            if end != current:
                if end - _MICROS <= reached:
                    late()
                    continue
                self._known.add(end)
                current, (keys, note) = end, self._windows.namespace(end)
            sides = keys.get(key)
            if sides is None:
                sides = keys[key] = ([], [])
            sides[side].append(row)
            note(key)
        return iter(())

    def _ended(self, reached: int) -> Iterable[object]:
        for end in sorted(end for end in self._known if end - _MICROS <= reached):
            self._known.discard(end)
            for left, right in self._windows.namespace(end)[0].values():
                yield from self._pairs(left, right)
            self._windows.remove(end)

    def _pairs(self, left: list[Any], right: list[Any]) -> Iterator[Any]:
        matches = self._matches
        null_left, null_right = self._has_null
        pads = tuple((None,) * width for width in self._widths)
        found_right: set[int] = set()
        for row in left:
            found = False
            if null_left is None or not null_left(row):
                for index, other in enumerate(right):
                    if null_right is not None and null_right(other):
                        continue
                    if matches is None or matches(row, other):
                        found = True
                        found_right.add(index)
                        yield row + other
            if not found and self._outer[0]:
                yield row + pads[1]
        if self._outer[1]:
            for index, other in enumerate(right):
                if index not in found_right:
                    yield pads[0] + other


class WindowSemiJoinOperator(WindowJoinOperator):
    """Gives the left rows that have a partner in their window, or none, when the window ends.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        anti: whether the rows without a partner come out.
        null_keys: for each side a function that tells whether a key has NULL, or None.
        ends: the positions of the ends of windows, for both sides.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        anti: bool,
        null_keys: tuple[Program | None, Program | None],
        ends: tuple[int, int],
        event_time: bool,
        zone: str | None,
    ) -> None:
        super().__init__(condition, widths, (anti, False), null_keys, ends, event_time, zone)
        self._anti = anti

    def _pairs(self, left: list[object], right: list[object]) -> Iterator[object]:
        matches = self._matches
        null_left, null_right = self._has_null
        partners = [row for row in right if null_right is None or not null_right(row)]
        for row in left:
            found = (null_left is None or not null_left(row)) and (
                bool(partners) if matches is None else any(matches(row, one) for one in partners)
            )
            if found is not self._anti:
                yield row


_rowtime_of = itemgetter(0)
_ROWS, _VERSIONS, _NEXT = 0, 1, 2
_NO_TIME = 1 << 63


class TemporalJoinOperator(KeyedProgramOperator):
    """Keeps rows until the watermark has passed them, and versions until a later one counts.

    A late row comes out at the next watermark, with a version that is still there. At a watermark
    the rows of a key come out in the order in which they came in.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        left: whether rows without a version are kept.
        null_key: a function that tells whether a left key has NULL, or None.
        times: the positions of the time attributes, for both sides.
        changelogs: whether the elements of a side are pairs of the kind and the row.
        ttl: after how long without a change (ms) a key is forgotten; 0 for never.
    """

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        left: bool,
        null_key: Program | None,
        times: tuple[int, int],
        changelogs: tuple[bool, bool],
        ttl: int = 0,
    ) -> None:
        self._condition, self._widths, self._outer = condition, widths, left
        self._null_key, self._times, self._changelogs = null_key, times, changelogs
        self._ttl = ttl

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        self._matches = self._load(self._condition, context)
        self._has_null = self._load(self._null_key, context)
        self._kept = self._state(context, "versions", self._ttl)
        self._due = self._timers(context)

    def inputs(self) -> tuple[Process, ...]:
        """Return the functions that process the two inputs."""
        return self._left, self._right

    def _left(self, elements: Iterator[Any]) -> Iterator[Any]:
        changelog, place = self._changelogs[0], self._times[0]
        for key, element in elements:
            row = element[1] if changelog else element
            time = row[place]
            state = self._state_of(key)
            state[_ROWS].append((time, element))
            if time < state[_NEXT]:
                self._wait(state, key, time)
        return iter(())

    def _right(self, elements: Iterator[Any]) -> Iterator[object]:
        changelog, place = self._changelogs[1], self._times[1]
        for key, element in elements:
            kind, row = element if changelog else (INSERT, element)
            if kind == UPDATE_BEFORE:
                continue
            version = (row[place], None if kind == DELETE else row)
            state = self._state_of(key)
            # Of the versions of one moment the one that comes last counts.
            insort(state[_VERSIONS], version, key=_rowtime_of)
            if version[0] < state[_NEXT]:
                self._wait(state, key, version[0])
        return iter(())

    def _state_of(self, key: object) -> Any:
        kept = self._kept
        found = kept.current.get(key)
        if found is None:
            found = kept.current[key] = [[], [], _NO_TIME]
        kept.note(key)
        return found

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the rows that are not later, with their versions."""
        reached = watermark * _MICROS + _MICROS - 1
        kept = self._kept
        for due, key, _ in self._due.until(watermark):
            state = kept.current.get(key)
            if state is None or due != state[_NEXT] // _MICROS:
                continue
            kept.note(key)
            rows, versions, _ = state
            later = [each for each in rows if each[0] > reached]
            if len(later) < len(rows):
                state[_ROWS] = later
                for time, element in rows:
                    if time <= reached:
                        yield from self._joined(element, time, versions)
            # Only the last version up to now can count for a row that is still to come.
            place = bisect_right(versions, reached, key=_rowtime_of)
            if place > 1:
                del versions[: place - 1]
                place = 1
            if not later and (not versions or (len(versions) == 1 and versions[0][1] is None)):
                del kept.current[key]
                continue
            following = versions[place][0] if place < len(versions) else _NO_TIME
            if later:
                following = min(following, *map(_rowtime_of, later))
            state[_NEXT] = _NO_TIME
            if following < _NO_TIME:
                self._wait(state, key, following)

    def _wait(self, state: Any, key: object, time: int) -> None:
        """Let the first time that a key has something to do at be the next one of its timers."""
        state[_NEXT] = time
        self._due.register(time // _MICROS, key, None)

    def _joined(self, element: Any, time: int, versions: list[Any]) -> Iterator[object]:
        changelog = self._changelogs[0]
        row = element[1] if changelog else element
        place = bisect_right(versions, time, key=_rowtime_of)
        version = versions[place - 1][1] if place else None
        if version is not None and (
            (self._has_null is not None and self._has_null(row))
            or (self._matches is not None and not self._matches(row, version))
        ):
            version = None
        if version is None:
            if not self._outer:
                return
            version = (None,) * self._widths[1]
        yield (element[0], row + version) if changelog else row + version
