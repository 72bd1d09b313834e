"""One value per key."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.state.keyed_state import KeyedState


class ValueState(KeyedState):
    """The single value of the current key; None when there is none."""

    __slots__ = ()
    kind = "value"

    def value(self) -> Any:
        """Return the value, or None."""
        return self._table.current.get(self._backend.key)

    def update(self, value: Any) -> None:
        """Set the value; None removes an untyped one, and has no declared type."""
        if self._fit is not None:
            value = self._fit(value)
        if value is None:
            self.clear()
            return
        table = self._table
        key = self._backend.key
        table.current[key] = value
        if table.changed is not None:
            table.changed.add((table.namespace, key))

    def put_whole(self, value: Any) -> None:
        """Replace what the current key has."""
        self.update(value)
