"""Aggregates over windows that share slices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.codegen.slices import Slices
from pyflink_on_spark._sql.plan.nodes import WindowKind
from pyflink_on_spark._sql.runtime.window_aggregate import WindowOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "slices"
_MICROS = 1000


class SliceAggregateOperator(WindowOperator):
    """Adds each row to one slice, and the slices of a window to each other when it ends.

    The slices of cumulating windows also have what was in the slices before them.

    Args:
        program: what ``compile_slices`` returns.
        slices: the windows.
    """

    def __init__(self, program: Program, slices: Slices) -> None:
        super().__init__(not slices.by_clock, slices.zone)
        self._program, self._slices = program, slices
        self._ended_before = 0

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._add, self._merged, self._rows = self._load(self._program, context)()
        self._groups = self._state(context, STATE_NAME)
        self._kept: set[Any] = set(self._groups.namespaces())
        self._due: set[Any] = set()
        for end in self._kept:
            self._due.update(self._windows(end))

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing: results come when windows end."""
        self._add(elements, self._use, self._reached, self._late.drop)
        return iter(())

    def _use(self, end: int) -> tuple[Any, Callable[[Any], object]]:
        # A slice whose own window has ended still counts for later ones.
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
            if self._slices.kind is WindowKind.HOP:
                yield from self._hop(end)
            else:
                yield from self._last(end)
        self._ended_before = reached + _MICROS

    def _hop(self, end: int) -> Iterator[Any]:
        slices = self._slices
        first = end - slices.size + slices.length
        merged: dict[Any, Any] = {}
        for each in range(first, end + 1, slices.length):
            if each in self._kept:
                self._merged(merged, self._groups.namespace(each)[0], end, 0)
                self._groups.note_all(each)
        yield from self._rows(merged, end)
        for each in range(first, first + slices.step, slices.length):
            self._forget(each)

    def _last(self, end: int) -> Iterator[Any]:
        """Yield the results of the only window that ends with a slice."""
        slices = self._slices
        groups, _ = self._groups.namespace(end)
        yield from self._rows(groups, end)
        following = end + slices.step
        if slices.kind is WindowKind.CUMULATE and (end - slices.offset) % slices.size:
            added, _ = self._use(following)
            self._merged(added, groups, None, self._ended_before)
            self._groups.note_all(following)
        self._forget(end)

    def _forget(self, end: int) -> None:
        if end in self._kept:
            self._kept.discard(end)
            self._groups.remove(end)
