"""Lists and maps for accumulators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Generic, TypeVar

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._runtime.state.map_state import MapIterator

__all__ = ["DataView", "ListView", "MapView"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class DataView:
    """Something that accumulators are made of."""

    def clear(self) -> None:
        """Remove everything."""
        raise NotImplementedError


class ListView(DataView, Generic[T]):
    """A list."""

    def __init__(self):
        self._list: list[T] = []

    def get(self) -> Iterable[T]:
        """Return the elements."""
        return self._list

    def add(self, value: T) -> None:
        """Add an element."""
        self._list.append(value)

    def add_all(self, values: list[T]) -> None:
        """Add elements."""
        self._list.extend(values)

    def clear(self) -> None:
        """Remove all elements."""
        self._list = []

    def __eq__(self, other) -> bool:
        return isinstance(other, ListView) and self._list == other._list

    def __hash__(self) -> int:
        return hash(tuple(self._list))

    def __iter__(self):
        return iter(self._list)


class MapView(DataView, Generic[K, V]):
    """A map."""

    _version = 0

    def __init__(self):
        self._dict: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        return self._dict.get(key)

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._dict[key] = value
        self._version += 1

    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys."""
        self._dict.update(dict_value)
        self._version += 1

    def remove(self, key: K) -> None:
        """Remove a key."""
        self._discard(key)

    def _discard(self, key: K) -> None:
        del self._dict[key]
        self._version += 1

    def contains(self, key: K) -> bool:
        """True if the map has the key."""
        return key in self._dict

    def items(self) -> Iterable[tuple[K, V]]:
        """Return the keys with their values."""
        return _Entries(self, self._dict, None)

    def keys(self) -> Iterable[K]:
        """Return the keys."""
        return _Entries(self, self._dict, itemgetter(0))

    def values(self) -> Iterable[V]:
        """Return the values."""
        return _Entries(self, self._dict, itemgetter(1))

    def is_empty(self) -> bool:
        """True if the map has no key."""
        return not self._dict

    def clear(self) -> None:
        """Remove all keys."""
        self._dict.clear()
        self._version += 1

    def __eq__(self, other) -> bool:
        return isinstance(other, MapView) and self._dict == other._dict

    def __hash__(self) -> int:
        return hash(tuple(self._dict))

    def __getitem__(self, key: K) -> V:
        return self._dict[key]

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self):
        return iter(self.keys())


class _Entries(Generic[T]):
    """The entries of a map; an iterator over them can remove the one that came last."""

    def __init__(
        self, view: MapView, entries: dict[K, V], pick: Callable[[tuple[K, V]], T] | None
    ) -> None:
        self._view, self._entries, self._pick = view, entries, pick

    def __iter__(self) -> Iterator[T]:
        return MapIterator(self._view, self._entries.items(), self._pick)

    def __len__(self) -> int:
        return len(self._entries)


__getattr__ = missing_name(__name__)
