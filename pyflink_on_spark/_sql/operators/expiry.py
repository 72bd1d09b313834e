"""Forgets the state of keys that nothing has changed for too long."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.table import StateTable

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


class Expiry:
    """Removes the entries of keys from tables when ``table.exec.state.ttl`` has passed.

    A key that a checkpoint brings back counts as changed then.

    Args:
        ttl: after how long without a change (ms); 0 for never.
        context: the operator's.
        tables: where the entries are.
    """

    def __init__(self, ttl: int, context: OperatorContext, tables: Iterable[StateTable]) -> None:
        self.ttl, self._now, self._tables = ttl, context.clock.now, tuple(tables)
        # In the order of their times, the oldest first.
        self._touched: dict[Any, int] = {}
        if ttl:
            now = self._now()
            for table in self._tables:
                self._touched.update(dict.fromkeys(table.current, now))

    def touch(self, key: Any) -> None:
        """Note that the entry of a key has changed."""
        self._touched.pop(key, None)
        self._touched[key] = self._now()

    def sweep(self, now: int) -> None:
        """Remove what nothing has changed for too long; called with the time (ms) of the clock."""
        if not self.ttl:
            return
        over = takewhile(lambda entry: now - entry[1] >= self.ttl, self._touched.items())
        for key in [key for key, _ in over]:
            del self._touched[key]
            for table in self._tables:
                if table.current.pop(key, None) is not None and table.changed is not None:
                    table.changed[None].add(key)
