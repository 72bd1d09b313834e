"""What all kinds of keyed state have in common."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.table import StateTable


class KeyedState:
    """A state of the current key, in the namespace that is in use.

    Args:
        backend: knows the current key.
        table: where the entries are.
    """

    __slots__ = ("_backend", "_table")

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        self._backend = backend
        self._table = table

    def set_current_namespace(self, namespace: Hashable) -> None:
        """Say in which namespace (a window, say) the state is used from now on."""
        self._table.use(namespace)

    def clear(self) -> None:
        """Remove the current key's entry."""
        table = self._table
        key = self._backend.key
        if key in table.current:
            del table.current[key]
            if table.changed is not None:
                table.changed.add((table.namespace, key))
