"""Any number of rows for each group of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.keyed_rows import note_nothing
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.functions.python.aggregates import AggregateBinding
from pyflink_on_spark._sql.plan.changes import DELETE, INSERT
from pyflink_on_spark._sql.runtime.function_bundles import FunctionBundle, KeyedBundlingOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "groups"


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
        self._note: Callable[[Any], object] = note_nothing
        if self.keyed:
            state = self._state(context, STATE_NAME, self._ttl)
            self._groups, self._note = state.current, state.note

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the changes; nothing yet in batch mode."""
        function, groups, note = self._function, self._groups, self._note
        touched: dict[Any, list[Any]] = {}
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

    def _replaced(self, state: list[Any]) -> Iterator[Any]:
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
