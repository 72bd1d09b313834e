"""Joins of rows with the version that a table had at their time."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.changes import DELETE, INSERT, UPDATE_BEFORE
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.contract.operator import Process

_MICROS = 1000
_TIME = itemgetter(0)
_ROWS, _VERSIONS, _NEXT = 0, 1, 2
_NEVER = 1 << 63


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
        """Return what processes the elements of each input."""
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

    def _right(self, elements: Iterator[Any]) -> Iterator[Any]:
        changelog, place = self._changelogs[1], self._times[1]
        for key, element in elements:
            kind, row = element if changelog else (INSERT, element)
            if kind == UPDATE_BEFORE:
                continue
            version = (row[place], None if kind == DELETE else row)
            state = self._state_of(key)
            # Of the versions of one moment the one that comes last counts.
            insort(state[_VERSIONS], version, key=_TIME)
            if version[0] < state[_NEXT]:
                self._wait(state, key, version[0])
        return iter(())

    def _state_of(self, key: Any) -> Any:
        kept = self._kept
        found = kept.current.get(key)
        if found is None:
            found = kept.current[key] = [[], [], _NEVER]
        kept.note(key)
        return found

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
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
            place = bisect_right(versions, reached, key=_TIME)
            if place > 1:
                del versions[: place - 1]
                place = 1
            if not later and (not versions or (len(versions) == 1 and versions[0][1] is None)):
                del kept.current[key]
                continue
            following = versions[place][0] if place < len(versions) else _NEVER
            if later:
                following = min(following, *map(_TIME, later))
            state[_NEXT] = _NEVER
            if following < _NEVER:
                self._wait(state, key, following)

    def _wait(self, state: Any, key: Any, time: int) -> None:
        """Let the first time that a key has something to do at be the next one of its timers."""
        state[_NEXT] = time
        self._due.register(time // _MICROS, key, None)

    def _joined(self, element: Any, time: int, versions: list[Any]) -> Iterator[Any]:
        changelog = self._changelogs[0]
        row = element[1] if changelog else element
        place = bisect_right(versions, time, key=_TIME)
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
