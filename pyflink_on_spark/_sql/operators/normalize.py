"""Completes the changes of a table that only says what a row is now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.rich_function import keyed_state_of
from pyflink_on_spark._sql.planner.changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

STATE_NAME = "rows"


class NormalizeOperator(Operator):
    """Remembers the row of each key, to tell new rows from updates and to say what went.

    Args:
        before: whether a row comes before each update as it was.
    """

    keyed = True
    frozen = True
    sorted_in_batch = False

    def __init__(self, before: bool) -> None:
        self._before = before

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._table = keyed_state_of(context).table(STATE_NAME, "value")

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the changes."""
        rows, changed, before = self._table.current, self._table.changed, self._before
        for key, (kind, row) in elements:
            old = rows.get(key)
            if kind == UPDATE_BEFORE or (kind != DELETE and old == row):
                continue
            if changed is not None:
                changed.add((None, key))
            if kind == DELETE:
                if rows.pop(key, None) is not None:
                    yield DELETE, old
                continue
            rows[key] = row
            if old is None:
                yield INSERT, row
                continue
            if before:
                yield UPDATE_BEFORE, old
            yield UPDATE_AFTER, row
