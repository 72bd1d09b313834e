"""Operators that hold one value for each group: aggregates, first and last rows, rows by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.timestamps import LateRows
from pyflink_on_spark._runtime.state.keyed_state import note_nothing
from pyflink_on_spark._runtime.state.timers import millisecond_from
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.functions.python.aggregates import AggregateBinding
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from pyflink_on_spark._sql.runtime.rows import (
    FunctionBundle,
    KeyedBundlingOperator,
    KeyedProgramOperator,
    ProgramOperator,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_GROUPS = "groups"


class GroupAggregateOperator(KeyedBundlingOperator):
    """Emits the changes of the rows of groups.

    Args:
        program: what ``compile_group_aggregate`` returns.
        ttl: after how long without a change (ms) a group is forgotten; 0 for never.
        bundle: how large bundles are; None if changes come for each element.
    """

    def __init__(self, program: Program, ttl: int, bundle: FunctionBundle | None = None) -> None:
        super().__init__(bundle)
        self._program, self._ttl = program, ttl

    def open(self, context: OperatorContext) -> None:
        """Compile the function, and find the state."""
        self._function = self._load(self._program, context)
        self._now = context.clock.now
        self._groups = self._state(context, _GROUPS, self._ttl)

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the changes."""
        groups = self._groups
        changes: Iterator[Any] = self._function(elements, groups.current, groups.note)
        return changes

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield the changes."""
        return self.process_bundle(elements) if self._bundle is None else super().process(elements)


class BatchAggregateOperator(ProgramOperator):
    """Emits a row for each group at the end.

    Args:
        program: what ``compile_batch_aggregate`` returns.
        row_of_nothing: whether there is a row without any input: there are no keys, and no
            functions of the user.
    """

    def __init__(self, program: Program, *, row_of_nothing: bool) -> None:
        self._program, self._row_of_nothing = program, row_of_nothing

    def open(self, context: OperatorContext) -> None:
        """Compile the functions."""
        self._add, self._rows, self._empty = self._load(self._program, context)()
        self._groups: dict[Any, Any] = {}

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        self._add(elements, self._groups)
        return iter(())

    def end_input(self) -> Iterable[Any]:
        """Yield the rows."""
        groups = self._groups
        if not groups and self._row_of_nothing:
            groups = {0: self._empty()}
        yield from self._rows(groups.values())


class FlatAggregateOperator(KeyedBundlingOperator):
    """Replaces the rows of groups.

    Args:
        binding: the user's function.
        arguments: a function of a row that returns the function's arguments.
        group: a function of a row that returns the columns that results begin with.
        changelog: whether elements are pairs of the kind and the row.
        bundle: how large bundles are; None if results come at the end only.
        ttl: after how long without a change (ms) a group is forgotten; 0 for never.
    """

    def __init__(
        self,
        binding: AggregateBinding,
        arguments: Program,
        group: Program,
        changelog: bool,
        bundle: FunctionBundle | None,
        ttl: int = 0,
    ) -> None:
        super().__init__(bundle)
        self._binding, self._arguments, self._group = binding, arguments, group
        self._changelog, self._ttl = changelog, ttl
        self.keyed = bundle is not None
        self._function: Any = None

    def open(self, context: OperatorContext) -> None:
        """Load the function, and find the state."""
        self._now = context.clock.now
        self._function = self._binding.load(context)
        self._of_row = self._load(self._arguments, context)
        self._group_of = self._load(self._group, context)
        self._groups: Any = {}
        self._note: Callable[[object], object] = note_nothing
        if self.keyed:
            state = self._state(context, _GROUPS, self._ttl)
            self._groups, self._note = state.current, state.note

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the changes; nothing yet in batch mode."""
        function, groups, note = self._function, self._groups, self._note
        touched: dict[object, list[object]] = {}
        for key, element in elements:
            kind, row = element if self._changelog else (INSERT, element)
            state = groups.get(key)
            if state is None:
                state = groups[key] = [function.create(), [], self._group_of(row)]
            change = function.retract if kind & 1 else function.accumulate
            change(state[0], *self._of_row(row))
            touched[key] = state
        if self.keyed:
            for key, state in touched.items():
                note(key)
                yield from self._replaced(state)

    def end_input(self) -> Iterable[Any]:
        """Finish the bundle; yield the rows of all groups in batch mode."""
        yield from super().end_input()
        if not self.keyed:
            for accumulator, _, group in self._groups.values():
                for row in self._function.rows(accumulator):
                    yield group + row

    def _replaced(self, state: list[Any]) -> Iterator[object]:
        accumulator, before, group = state
        after = [group + row for row in self._function.rows(accumulator)]
        state[1] = after
        kept = list(after)
        for row in before:
            if row in kept:
                kept.remove(row)
            else:
                yield DELETE, row
        for row in kept:
            yield INSERT, row

    def close(self) -> None:
        """Close the functions."""
        super().close()
        if self._function is not None:
            self._binding.close(self._function)


_ROWS = "rows"
_MICROS = 1000
_EMITTED = ()


class FirstRowOperator(KeyedProgramOperator):
    """Gives the first row of each key by event time, when the watermark has reached it.

    Rows that the watermark has passed are dropped, those of new keys too. The state of a key is its
    first row up to now, and an empty one once that has been emitted.

    Args:
        time: the position of the time attribute.
        ttl: how long (ms) the state of a key is kept; 0 for always.
    """

    def __init__(self, time: int, ttl: int = 0) -> None:
        self._time, self._ttl = time, ttl

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._first = self._state(context, _ROWS, self._ttl)
        self._late = LateRows(context)
        self._watermark = MIN_TIMESTAMP * _MICROS
        self._due = self._timers(context)

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield nothing yet."""
        rows, note, register = self._first.current, self._first.note, self._due.register
        place, watermark = self._time, self._watermark
        for key, row in elements:
            time = row[place]
            if time < watermark:
                self._late.drop()
                continue
            first = rows.get(key)
            if first is not None and (not first or first[place] <= time):
                continue
            rows[key] = row
            register(millisecond_from(time), key, None)
            note(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the first rows that are not later."""
        self._watermark = watermark * _MICROS
        rows, note = self._first.current, self._first.note
        for _, key, _ in self._due.until(watermark):
            first = rows.get(key)
            if first:
                rows[key] = _EMITTED
                note(key)
                yield first


class NormalizeOperator(KeyedProgramOperator):
    """Remembers the row of each key, to tell new rows from updates and to say what went.

    Args:
        before: whether each update gets its UPDATE_BEFORE row.
        ttl: after how long without a change (ms) a row is forgotten; 0 for never. With it an update
            also comes where nothing has changed, so that those who follow forget no sooner.
    """

    def __init__(self, before: bool, ttl: int = 0) -> None:
        self._before, self._ttl = before, ttl

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._rows = self._state(context, _ROWS, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the changes."""
        rows, note, before = self._rows.current, self._rows.note, self._before
        keeps_equal = bool(self._ttl)
        for key, (kind, row) in elements:
            old = rows.get(key)
            if kind == UPDATE_BEFORE or (kind != DELETE and old == row and not keeps_equal):
                continue
            if kind == DELETE:
                if old is not None:
                    del rows[key]
                    note(key)
                    yield DELETE, old
                continue
            rows[key] = row
            note(key)
            if old is None:
                yield INSERT, row
                continue
            if before:
                yield UPDATE_BEFORE, old
            yield UPDATE_AFTER, row
