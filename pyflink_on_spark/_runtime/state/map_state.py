"""A map per key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.declared import Coercion, entry_fits
from pyflink_on_spark._runtime.state.keyed_state import KeyedState
from pyflink_on_spark._runtime.state.map_access import WritableMap

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.table import StateTable


class MapState(KeyedState, WritableMap):
    """The map of the current key."""

    __slots__ = ("_fit_key", "_version")
    kind = "map"

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        super().__init__(backend, table)
        self._version = 0
        self._fit_key: Coercion | None = None

    def declare(self, name: str, type_info: Any, converted: bool) -> None:
        """Say of which type the map has to be."""
        self._fit_key, self._fit = entry_fits(name, type_info, converted)

    def get(self, key: Any) -> Any:
        """Return a value, or None.

        Raises:
            ConversionError: if there is none, and the key does not have its declared type.
        """
        entries = self._table.current.get(self._backend.key)
        if entries is not None:
            value = entries.get(key)
            if value is not None:
                return value
        if self._fit_key is None:
            return None
        fitted = self._fit_key(key)
        return None if entries is None else entries.get(fitted)

    def put(self, key: Any, value: Any) -> None:
        """Set an entry."""
        if self._fit_key is not None:
            key = self._fit_key(key)
        if self._fit is not None:
            value = self._fit(value)
        self._writable()[key] = value

    def put_all(self, dict_value: Iterable[tuple[Any, Any]]) -> None:
        """Set entries, given as pairs: ``d.items()``, not ``d``."""
        entries = self._writable()
        for key, value in dict_value:
            key, value = self._fitting(key, value)
            entries[key] = value
        if not entries:
            self.clear()

    def put_whole(self, value: Any) -> None:
        """Set the entries of a dict."""
        self.put_all(value.items())

    def get_internal_state(self) -> MapState:
        """Return itself, where PyFlink has an object with the same methods."""
        return self

    def clear(self) -> None:
        """Remove all entries."""
        self._version += 1
        super().clear()

    def _fitting(self, key: Any, value: Any) -> tuple[Any, Any]:
        if self._fit_key is not None:
            key = self._fit_key(key)
        if self._fit is not None:
            value = self._fit(value)
        return key, value

    def _entries(self) -> dict[Any, Any]:
        entries: dict[Any, Any] = self._table.current.get(self._backend.key, {})
        return entries

    def _writable(self) -> dict[Any, Any]:
        table = self._table
        key = self._backend.key
        entries: dict[Any, Any] | None = table.current.get(key)
        if entries is None:
            entries = table.current[key] = {}
        self._version += 1
        if table.changed is not None:
            table.changed[table.namespace].add(key)
        return entries

    def _kept(self, entries: dict[Any, Any], key: Any) -> Any:
        """Return the key under which an entry is kept."""
        return key if self._fit_key is None or key in entries else self._fit_key(key)

    def _discard(self, key: Any) -> None:
        entries = self._load()
        key = self._kept(entries or {}, key)
        if entries is None:
            return
        self._version += 1
        if key in entries:
            del entries[key]
            if entries:
                self._store(entries)
            else:
                super().clear()
