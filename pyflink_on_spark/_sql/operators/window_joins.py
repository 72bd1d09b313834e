"""Joins of rows of the same window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.late_rows import LateRows, register_watermark_latency
from pyflink_on_spark._runtime.operators.operator import Process
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.operators.window_aggregate import WindowOperator, last_millisecond

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

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
        self._due = self._timers(context, event_time=self._event_time)

    def inputs(self) -> tuple[Process, ...]:
        """Return what processes the elements of each input."""
        return self._left, self._right

    def _left(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._kept(elements, 0)

    def _right(self, elements: Iterator[Any]) -> Iterator[Any]:
        return self._kept(elements, 1)

    def _kept(self, elements: Iterator[Any], side: int) -> Iterator[Any]:
        """Keep rows; late ones are dropped."""
        place, keys, reached = self._ends[side], self._windows.current, self._reached
        note, late = self._windows.note, self._late_rows[side].drop
        for key, row in elements:
            end = row[place]
            if end - _MICROS <= reached:
                late()
                continue
            windows = keys.get(key)
            if windows is None:
                windows = keys[key] = {}
            sides = windows.get(end)
            if sides is None:
                sides = windows[end] = ([], [])
                self._due.register(last_millisecond(end), key, end)
            sides[side].append(row)
            note(key)
        return iter(())

    def _ended(self, reached: int) -> Iterable[Any]:
        keys, note = self._windows.current, self._windows.note
        for _, key, end in self._due.until(reached // _MICROS):
            windows = keys.get(key)
            if windows is None or end not in windows:
                continue
            left, right = windows.pop(end)
            if not windows:
                del keys[key]
            note(key)
            yield from self._pairs(left, right)

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
