"""Aggregates groups of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.operators.function_bundles import BundlingOperator, FunctionBundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

STATE_NAME = "groups"


class GroupAggregateOperator(BundlingOperator):
    """Emits the changes of the rows of groups.

    Args:
        program: what ``compile_group_aggregate`` returns.
        ttl: after how long without a change (ms) a group is forgotten; 0 for never.
        bundle: how large bundles are; None if changes come for each element.
    """

    keyed = True
    frozen = True

    def __init__(self, program: Program, ttl: int, bundle: FunctionBundle | None = None) -> None:
        super().__init__(bundle)
        self._program, self._ttl = program, ttl

    def open(self, context: OperatorContext) -> None:
        """Compile the function, and find the state."""
        self._loaded = self._program.load(context)
        self._now = context.clock.now
        self._table = keyed_state_of(context).table(STATE_NAME, "value")
        self._touched: dict[Any, int] = {}
        self._next_sweep = 0

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the changes."""
        changes: Iterator[Any] = self._loaded.function(elements, self._table.current, self._note())
        return changes

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the changes."""
        return self.process_bundle(elements) if self._bundle is None else super().process(elements)

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Forget groups that have not changed for too long; finish a bundle in time."""
        if self._ttl and now >= self._next_sweep:
            self._next_sweep = now + self._ttl // 2
            gone = [key for key, time in self._touched.items() if now - time >= self._ttl]
            for key in gone:
                del self._touched[key]
                if self._table.current.pop(key, None) is not None:
                    self._changed(key)
        return super().advance_processing_time(now)

    def close(self) -> None:
        """Close what the functions hold."""
        if hasattr(self, "_loaded"):
            self._loaded.close()

    def _note(self) -> Callable[[Any], object]:
        if not self._ttl:
            return self._changed if self._table.changed is not None else _nothing
        touched, now = self._touched, self._now

        def note(key: Any) -> None:
            touched[key] = now()
            self._changed(key)

        return note

    def _changed(self, key: Any) -> None:
        if self._table.changed is not None:
            self._table.changed.add((None, key))


class BatchAggregateOperator(Operator):
    """Emits a row for each group at the end.

    Args:
        program: what ``compile_batch_aggregate`` returns.
        grouped: whether there are keys; without keys there is a row in any case.
    """

    frozen = True

    def __init__(self, program: Program, grouped: bool) -> None:
        self._program, self._grouped = program, grouped

    def open(self, context: OperatorContext) -> None:
        """Compile the functions."""
        self._loaded = self._program.load(context)
        self._add, self._rows, self._empty = self._loaded.function()
        self._groups: dict[Any, Any] = {}

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        self._add(elements, self._groups)
        return iter(())

    def end_input(self) -> Iterable[Any]:
        """Yield the rows."""
        groups = self._groups
        if not groups and not self._grouped:
            groups = {0: self._empty()}
        yield from self._rows(groups.values())

    def close(self) -> None:
        """Close what the functions hold."""
        if hasattr(self, "_loaded"):
            self._loaded.close()


def _nothing(_key: Any) -> None:
    """Note nothing."""
