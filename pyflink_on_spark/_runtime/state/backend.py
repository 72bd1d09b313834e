"""The keyed state of one operator in one subtask."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.context import Clock
from pyflink_on_spark._runtime.state.table import StateTable
from pyflink_on_spark._runtime.state.value_state import ValueState
from pyflink_on_spark._runtime.timers import Timers


class KeyedStateBackend:
    """Holds the states and the timers of all keys, and knows which key is the current one.

    Args:
        clock: processing time.
        max_parallelism: the number of key groups.
        track_changes: whether ``take_changes`` will be asked for.
    """

    def __init__(
        self, clock: Clock, max_parallelism: int = 128, track_changes: bool = False
    ) -> None:
        self.key: Any = None
        self.timers = Timers(clock)
        self._clock = clock
        self._max_parallelism = max_parallelism
        self._track = track_changes
        self._tables: dict[str, StateTable] = {}
        self._kinds: dict[str, str] = {}
        self._states: dict[str, Any] = {}

    def table(self, name: str, kind: str) -> StateTable:
        """Return the table of a state, whatever it holds."""
        known = self._kinds.setdefault(name, kind)
        if known != kind:
            raise RuntimeError(f"The state name '{name}' is already in use and not a {kind} state.")
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = StateTable(self._track)
        return table

    def value_state(self, descriptor: Any) -> Any:
        """Return the state that a ValueStateDescriptor describes."""
        name = descriptor.get_name()
        table = self.table(name, "value")
        if name not in self._states:
            self._states[name] = ValueState(self, table)
        return self._states[name]

    def drop_key(self, key: Any) -> None:
        """Forget all state of a key."""
        for table in self._tables.values():
            table.drop_key(key)
