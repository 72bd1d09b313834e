"""Aggregates groups of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.runtime.function_bundles import FunctionBundle, KeyedBundlingOperator
from pyflink_on_spark._sql.runtime.program_operator import ProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "groups"


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
        self._groups = self._state(context, STATE_NAME, self._ttl)

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the changes."""
        groups = self._groups
        changes: Iterator[Any] = self._function(elements, groups.current, groups.note)
        return changes

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the changes."""
        return self.process_bundle(elements) if self._bundle is None else super().process(elements)


class BatchAggregateOperator(ProgramOperator):
    """Emits a row for each group at the end.

    Args:
        program: what ``compile_batch_aggregate`` returns.
        grouped: whether there are keys; without keys there is a row in any case.
    """

    def __init__(self, program: Program, grouped: bool) -> None:
        self._program, self._grouped = program, grouped

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
        if not groups and not self._grouped:
            groups = {0: self._empty()}
        yield from self._rows(groups.values())
