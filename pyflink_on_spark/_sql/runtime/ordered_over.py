"""Functions over the rows up to each row of a stream, in the order of any column."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.changes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
)
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "ordered"
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
        before: whether a row comes before each update as it was.
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
        self._groups = self._state(context, STATE_NAME, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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

    def _insert(self, group: Any, place: Any, kind: int, row: Any) -> Iterator[Any]:
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

    def _remove(self, group: Any, place: Any, _kind: int, row: Any) -> Iterator[Any]:
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
    def _find(places: list[Any], steps: list[Any], place: Any, row: Any) -> tuple[int, int] | None:
        """Return the step of the first row that equals one, and its number there."""
        index = bisect_left(places, place)
        while index < len(places) and places[index] == place:
            if row in steps[index]:
                return index, steps[index].index(row)
            index += 1
        return None

    def _following(self, group: Any, index: int) -> Iterator[Any]:
        """Yield the changes of later steps, up to the first that stays as it was."""
        _, steps, accumulators = group
        for number in range(index, len(steps)):
            old = accumulators[number]
            new = self._after(self._start(accumulators, number), steps[number])
            if new == old:
                return
            accumulators[number] = new
            yield from self._updates(steps[number], old, new)

    def _start(self, accumulators: list[Any], index: int) -> Any:
        """Return an accumulator of all rows before a step."""
        if index == 0:
            return self._create()
        return [
            value if type(value) in _ATOMS else deepcopy(value) for value in accumulators[index - 1]
        ]

    def _after(self, accumulator: Any, rows: Iterable[Any]) -> Any:
        for row in rows:
            self._add(accumulator, row)
        return accumulator

    def _updates(self, rows: Iterable[Any], old: Any, new: Any) -> Iterator[Any]:
        before, after = self._values(old), self._values(new)
        for row in rows:
            if self._before:
                yield UPDATE_BEFORE, row + before
            yield UPDATE_AFTER, row + after
