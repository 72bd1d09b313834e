"""A map per key, in the order of its own keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.keyed_state import KeyedState
from pyflink_on_spark._runtime.state.map_access import MapIterator, WritableMap
from pyflink_on_spark._runtime.state.sorted_entries import SortedEntries

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.table import StateTable

Pair = tuple[Any, Any]
_NO_ENTRIES = SortedEntries()


class SortedMapState(KeyedState, WritableMap):
    """The map of the current key; iterates in the order of the map's keys."""

    __slots__ = ("_version",)
    kind = "sorted map"

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        super().__init__(backend, table)
        self._version = 0

    def put(self, key: Any, value: Any) -> None:
        """Set an entry."""
        self._writable().put(key, value)

    def put_all(self, dict_value: Iterable[Pair]) -> None:
        """Set entries, given as pairs: ``d.items()``, not ``d``."""
        for key, value in dict_value:
            self.put(key, value)

    def put_whole(self, value: Any) -> None:
        """Set the entries of a dict."""
        self.put_all(value.items())

    def clear(self) -> None:
        """Remove all entries."""
        self._version += 1
        super().clear()

    def first_entry(self) -> Pair | None:
        """Return the entry with the smallest key, or None."""
        return self._at(0)

    def last_entry(self) -> Pair | None:
        """Return the entry with the largest key, or None."""
        return self._at(-1)

    def head_map(self, to_key: Any) -> Iterator[Pair]:
        """Iterate over the entries with smaller keys, in order."""
        entries = self._sorted()
        return self._iterate(entries.items(0, entries.position(to_key)))

    def tail_map(self, from_key: Any) -> Iterator[Pair]:
        """Iterate over the entries with this key and larger ones, in order."""
        entries = self._sorted()
        return self._iterate(entries.items(entries.position(from_key)))

    def sub_map(self, from_key: Any, to_key: Any) -> Iterator[Pair]:
        """Iterate over the entries from a key to one that is not included, in order."""
        entries = self._sorted()
        return self._iterate(entries.items(entries.position(from_key), entries.position(to_key)))

    def items(self) -> Iterator[Pair]:
        """Iterate over the entries, in order."""
        return self._iterate(self._sorted().items())

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys, in order."""
        return self._iterate(self._sorted().items(), lambda item: item[0])

    def values(self) -> Iterator[Any]:
        """Iterate over the values, in the order of their keys."""
        return self._iterate(self._sorted().items(), lambda item: item[1])

    def _sorted(self) -> SortedEntries:
        entries: SortedEntries = self._table.current.get(self._backend.key, _NO_ENTRIES)
        return entries

    def _entries(self) -> dict[Any, Any]:
        return self._sorted().values

    def _at(self, position: int) -> Pair | None:
        entries = self._sorted()
        if not entries:
            return None
        key = entries.keys()[position]
        return key, entries.values[key]

    def _iterate(
        self, items: Iterator[Pair], pick: Callable[[Any], Any] | None = None
    ) -> Iterator[Any]:
        return MapIterator(self, items, pick)

    def _writable(self) -> SortedEntries:
        entries = self._load()
        if entries is None:
            entries = SortedEntries()
        self._version += 1
        self._store(entries)
        return entries  # type: ignore[no-any-return]

    def _discard(self, key: Any) -> None:
        entries = self._load()
        if entries is None:
            return
        self._version += 1
        if key in entries.values:
            entries.remove(key)
            if entries:
                self._store(entries)
            else:
                super().clear()
