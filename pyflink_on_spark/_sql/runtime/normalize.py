"""Completes the changes of a table that only says what a row is now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.plan.changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "rows"


class NormalizeOperator(KeyedProgramOperator):
    """Remembers the row of each key, to tell new rows from updates and to say what went.

    Args:
        before: whether a row comes before each update as it was.
        ttl: after how long without a change (ms) a row is forgotten; 0 for never. With it an update
            also comes where nothing has changed, so that those who follow forget no sooner.
    """

    def __init__(self, before: bool, ttl: int = 0) -> None:
        self._before, self._ttl = before, ttl

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._rows = self._state(context, STATE_NAME, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
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
