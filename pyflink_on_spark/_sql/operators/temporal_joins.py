"""Joins of rows with the version that a table had at their time."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.operator import Operator, Process
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.operators.due_times import DueTimes
from pyflink_on_spark._sql.planner.changes import DELETE, INSERT, UPDATE_BEFORE

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_MICROS = 1000
_TIME = itemgetter(0)
_ROWS, _VERSIONS = 0, 1


class TemporalJoinOperator(Operator):
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
    """

    keyed = True
    frozen = True
    sorted_in_batch = False

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        left: bool,
        null_key: Program | None,
        times: tuple[int, int],
        changelogs: tuple[bool, bool],
    ) -> None:
        self._condition, self._widths, self._outer = condition, widths, left
        self._null_key, self._times, self._changelogs = null_key, times, changelogs

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        self._matches: Callable[[Any, Any], Any] | None = None
        if self._condition is not None:
            self._matches = self._condition.load(context).function
        self._has_null = None if self._null_key is None else self._null_key.load(context).function
        self._table = keyed_state_of(context).table("versions", "value")
        self._due = DueTimes()
        for key, (rows, versions) in self._table.current.items():
            for time in map(_TIME, (*rows, *versions)):
                self._due.add(time, key)

    def inputs(self) -> tuple[Process, ...]:
        """Return what processes the elements of each input."""
        return self._left, self._right

    def _left(self, elements: Iterator[Any]) -> Iterator[Any]:
        changelog, place = self._changelogs[0], self._times[0]
        for key, element in elements:
            row = element[1] if changelog else element
            time = row[place]
            self._state(key)[_ROWS].append((time, element))
            self._due.add(time, key)
        return iter(())

    def _right(self, elements: Iterator[Any]) -> Iterator[Any]:
        changelog, place = self._changelogs[1], self._times[1]
        for key, element in elements:
            kind, row = element if changelog else (INSERT, element)
            if kind == UPDATE_BEFORE:
                continue
            version = (row[place], None if kind == DELETE else row)
            versions = self._state(key)[_VERSIONS]
            # Of the versions of one moment the one that comes last counts.
            insort(versions, version, key=_TIME)
            self._due.add(version[0], key)
        return iter(())

    def _state(self, key: Any) -> Any:
        found = self._table.current.get(key)
        if found is None:
            found = self._table.current[key] = [[], []]
        if self._table.changed is not None:
            self._table.changed[None].add(key)
        return found

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the rows that are not later, with their versions."""
        reached = watermark * _MICROS + _MICROS - 1
        for _, key in self._due.until(reached):
            if key not in self._table.current:
                continue
            state = self._state(key)
            rows, versions = state
            later = [each for each in rows if each[0] > reached]
            if len(later) < len(rows):
                state[_ROWS] = later
                for time, element in rows:
                    if time <= reached:
                        yield from self._joined(element, time, versions)
            # Only the last version up to now can count for a row that is still to come.
            del versions[: max(0, bisect_right(versions, reached, key=_TIME) - 1)]
            if not later and (not versions or (len(versions) == 1 and versions[0][1] is None)):
                del self._table.current[key]

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
