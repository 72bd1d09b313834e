"""Joins of rows of the same window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Process
from pyflink_on_spark._runtime.operators.late_rows import LateRows, register_watermark_latency
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.runtime.window_aggregate import WindowOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_MICROS = 1000


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
        """Return what processes the elements of each input."""
        return self._left, self._right

    def _left(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._kept(elements, 0)

    def _right(self, elements: Iterator[Any]) -> Iterator[Any]:
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

    def _ended(self, reached: int) -> Iterable[Any]:
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
