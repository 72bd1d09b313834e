"""One value per key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.declared import fitting_ints
from pyflink_on_spark._runtime.state.keyed_state import KeyedState

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.table import StateTable


class ValueState(KeyedState):
    """The single value of the current key; None when there is none."""

    __slots__ = ("_high", "_low")
    kind = "value"

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        super().__init__(backend, table)
        self._low, self._high = fitting_ints(None)

    def declare(self, name: str, type_info: Any, converted: bool) -> None:
        """Say of which type the value has to be."""
        super().declare(name, type_info, converted)
        self._low, self._high = fitting_ints(type_info)

    def value(self) -> Any:
        """Return the value, or None."""
        return self._table.current.get(self._backend.key)

    def update(self, value: Any) -> None:
        """Set the value; None removes an untyped one, and has no declared type."""
        if type(value) is not int or not self._low <= value <= self._high:
            if self._fit is not None:
                value = self._fit(value)
            if value is None:
                self.clear()
                return
        table = self._table
        key = self._backend.key
        table.current[key] = value
        if table.changed is not None:
            table.changed[table.namespace].add(key)

    def put_whole(self, value: Any) -> None:
        """Replace what the current key has."""
        self.update(value)
