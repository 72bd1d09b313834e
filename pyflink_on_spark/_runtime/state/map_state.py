"""Maps in keyed state: as they come, and sorted."""

from __future__ import annotations

import logging
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.keyed_state import (
    Coercion,
    KeyedState,
    NoKeyYetError,
    StateTable,
    entry_coercions,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark.common.typeinfo import TypeInformation

_log = logging.getLogger(__name__)


class MapIterator:
    """Iterates over a map; fails when the map is changed in other ways than by ``remove``.

    Args:
        view: the state, or the view of an accumulator.
        items: pairs of the map's key and value.
        pick: makes of such a pair what is yielded.
    """

    __slots__ = ("_detached", "_items", "_last", "_pick", "_version", "_view")

    def __init__(
        self, view: Any, items: Iterable[object], pick: Callable[[Any], object] | None
    ) -> None:
        self._view = view
        self._version = view._version
        self._items: Iterator[object] = iter(items)
        self._pick = pick
        self._last: Any = None
        self._detached = False

    def __iter__(self) -> MapIterator:
        """Return itself."""
        return self

    def __next__(self) -> Any:
        """Return the next one."""
        if self._version != self._view._version:
            raise _modified()
        self._last = item = next(self._items)
        return item if self._pick is None else self._pick(item)

    def remove(self) -> None:
        """Remove the entry that came last."""
        if self._last is None:
            raise RuntimeError("You need to call the '__next__' method before calling this method.")
        if self._version != self._view._version:
            raise _modified()
        if not self._detached:
            self._items = iter(list(self._items))
            self._detached = True
        self._view._discard(self._last[0])
        self._version = self._view._version
        self._last = None


def _modified() -> Exception:
    return RuntimeError(
        "Concurrent modification detected. You can not modify the map state when iterating it "
        "except using the 'remove' method of this iterator."
    )


def _key(item: tuple[object, object]) -> object:
    return item[0]


def _value(item: tuple[object, object]) -> object:
    return item[1]


class ReadableMap:
    """Reads a map. An entry with the value None is not contained, yet iterated over."""

    __slots__ = ()

    _version: int
    """Counts the changes."""

    def _entries(self) -> dict[object, object]:
        """Return the map as it is now; not for writing."""
        raise NotImplementedError

    def _discard(self, key: object) -> None:
        """Remove an entry, if it is there."""
        raise NotImplementedError

    def get(self, key: object) -> object:
        """Return a value, or None."""
        return self._entries().get(key)

    def contains(self, key: object) -> bool:
        """True for a key with a value that is not None."""
        return self.get(key) is not None

    def items(self) -> Iterator[tuple[object, object]]:
        """Iterate over the entries, in the order in which they were first put."""
        return MapIterator(self, self._entries().items(), None)

    def keys(self) -> Iterator[object]:
        """Iterate over the keys."""
        return MapIterator(self, self._entries().items(), _key)

    def values(self) -> Iterator[object]:
        """Iterate over the values."""
        return MapIterator(self, self._entries().items(), _value)

    def is_empty(self) -> bool:
        """True if there are no entries."""
        return not self._entries()

    def __getitem__(self, key: object) -> object:
        return self.get(key)

    def __contains__(self, key: object) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[object]:
        return self.keys()


class WritableMap(ReadableMap):
    """Reads and writes a map."""

    __slots__ = ()

    def put(self, key: object, value: object) -> None:
        """Set an entry."""
        self.put_all(((key, value),))

    def put_all(self, dict_value: Iterable[tuple[object, object]]) -> None:
        """Set entries, given as pairs: ``d.items()``, not ``d``."""
        raise NotImplementedError

    def remove(self, key: object) -> None:
        """Remove an entry, if it is there."""
        self._discard(key)

    def __setitem__(self, key: object, value: object) -> None:
        self.put(key, value)

    def __delitem__(self, key: object) -> None:
        self.remove(key)


class MapState(KeyedState, WritableMap):
    """The map of the current key."""

    __slots__ = ("_fit_key", "_forgotten", "_version")
    kind = "map"

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        super().__init__(backend, table)
        self._version = 0
        self._fit_key: Coercion | None = None
        self._forgotten: dict[object, object] | None = None

    def declare(self, name: str, type_info: TypeInformation, converted: bool) -> None:
        """Say of which type the map has to be."""
        self._fit_key, self._fit = entry_coercions(name, type_info, converted)

    def get(self, key: object) -> object:
        """Return a value, or None.

        Raises:
            ConversionError: if there is none, and the key does not have its declared type.
        """
        try:
            entries = self._table.current.get(self._backend.key)
        except NoKeyYetError:
            if self._forgotten is None or key not in self._forgotten:
                raise
            return self._forgotten[key]
        if entries is not None:
            value = entries.get(key)
            if value is not None:
                return value
        if self._fit_key is None:
            return None
        fitted = self._fit_key(key)
        return None if entries is None else entries.get(fitted)

    def put(self, key: object, value: object) -> None:
        """Set an entry."""
        if self._fit_key is not None:
            key = self._fit_key(key)
        if self._fit is not None:
            value = self._fit(value)
        self._writable()[key] = value

    def put_all(self, dict_value: Iterable[tuple[object, object]]) -> None:
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
        try:
            super().clear()
        except NoKeyYetError:
            self._forgotten_entries().clear()

    def _forgotten_entries(self) -> dict[object, object]:
        """Return the entries that ``open()`` has put, and that belong to no key, as in PyFlink."""
        if self._forgotten is None:
            _log.warning(
                "A MapState is changed in open(), where there is no key: the change is lost, as in "
                "PyFlink. Change the state where elements are processed."
            )
            self._forgotten = {}
        return self._forgotten

    def _fitting(self, key: object, value: object) -> tuple[object, object]:
        if self._fit_key is not None:
            key = self._fit_key(key)
        if self._fit is not None:
            value = self._fit(value)
        return key, value

    def _entries(self) -> dict[object, object]:
        entries: dict[object, object] = self._table.current.get(self._backend.key, {})
        return entries

    def _writable(self) -> dict[object, object]:
        table = self._table
        key = self._backend.key
        try:
            entries: dict[object, object] | None = table.current.get(key)
        except NoKeyYetError:
            return self._forgotten_entries()
        if entries is None:
            entries = table.current[key] = {}
        self._version += 1
        if table.changed is not None:
            table.changed[table.namespace].add(key)
        return entries

    def _kept(self, entries: dict[object, object], key: object) -> object:
        """Return the key under which an entry is kept."""
        return key if self._fit_key is None or key in entries else self._fit_key(key)

    def _discard(self, key: object) -> None:
        try:
            entries = self._load()
        except NoKeyYetError:
            self._forgotten_entries().pop(key, None)
            return
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


_INSERT_ONE_BY_ONE = 8


class SortedEntries:
    """A dict with a sorted list of its keys, brought up to date when the order is asked for.

    Whoever only puts and gets pays next to nothing for the order, and keys that come in order cost
    nothing either. One new key is inserted, many are sorted in at once. A pickle
    does not contain the list.

    Args:
        values: the entries. Keys must be comparable with each other.
    """

    __slots__ = ("_keys", "_new", "values")

    def __init__(self, values: dict[object, object] | None = None) -> None:
        self.values = {} if values is None else values
        self._keys: list[Any] = []
        self._new: list[object] = list(self.values)

    def __reduce__(self) -> tuple[object, ...]:
        return SortedEntries, (self.values,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SortedEntries) and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.values)

    def put(self, key: object, value: object) -> None:
        """Set an entry.

        Raises:
            TypeError: the key cannot be compared with the others.
            ValueError: the key is not equal to itself, as NaN.
        """
        if key not in self.values:
            self._add_key(key)
        self.values[key] = value

    def remove(self, key: object) -> None:
        """Remove an entry that is there."""
        del self.values[key]
        keys = self.keys()
        del keys[bisect_left(keys, key)]

    def keys(self) -> list[Any]:
        """Return the keys in order; not for writing."""
        new = self._new
        if new:
            if len(new) <= _INSERT_ONE_BY_ONE and self._keys:
                for key in new:
                    insort(self._keys, key)
            else:
                self._keys += new
                self._keys.sort()
            new.clear()
        return self._keys

    def items(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[object, object]]:
        """Yield entries in order, by position; nothing must be changed meanwhile."""
        values, keys = self.values, self.keys()
        for position in range(start, len(keys) if stop is None else stop):
            key = keys[position]
            yield key, values[key]

    def position(self, key: object) -> int:
        """Return how many keys are smaller than one."""
        return bisect_left(self.keys(), key)

    def _add_key(self, key: Any) -> None:
        if key != key:  # noqa: PLR0124
            raise ValueError(f"{key!r} has no place in an order")
        known = self._new or self._keys
        follows = not known or known[-1] < key
        if follows and known is self._keys:
            known.append(key)
        else:
            self._new.append(key)


Pair = tuple[object, object]
_NO_ENTRIES = SortedEntries()


class SortedMapState(KeyedState, WritableMap):
    """The map of the current key; iterates in the order of the map's keys."""

    __slots__ = ("_version",)
    kind = "sorted map"

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        super().__init__(backend, table)
        self._version = 0

    def put(self, key: object, value: object) -> None:
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

    def head_map(self, to_key: object) -> Iterator[Pair]:
        """Iterate over the entries with smaller keys, in order."""
        entries = self._sorted()
        return self._iterate(entries.items(0, entries.position(to_key)))

    def tail_map(self, from_key: object) -> Iterator[Pair]:
        """Iterate over the entries with this key and larger ones, in order."""
        entries = self._sorted()
        return self._iterate(entries.items(entries.position(from_key)))

    def sub_map(self, from_key: object, to_key: object) -> Iterator[Pair]:
        """Iterate over the entries from a key to one that is not included, in order."""
        entries = self._sorted()
        return self._iterate(entries.items(entries.position(from_key), entries.position(to_key)))

    def items(self) -> Iterator[Pair]:
        """Iterate over the entries, in order."""
        return self._iterate(self._sorted().items())

    def keys(self) -> Iterator[object]:
        """Iterate over the keys, in order."""
        return self._iterate(self._sorted().items(), lambda item: item[0])

    def values(self) -> Iterator[object]:
        """Iterate over the values, in the order of their keys."""
        return self._iterate(self._sorted().items(), lambda item: item[1])

    def _sorted(self) -> SortedEntries:
        entries: SortedEntries = self._table.current.get(self._backend.key, _NO_ENTRIES)
        return entries

    def _entries(self) -> dict[object, object]:
        return self._sorted().values

    def _at(self, position: int) -> Pair | None:
        entries = self._sorted()
        if not entries:
            return None
        key = entries.keys()[position]
        return key, entries.values[key]

    def _iterate(
        self, items: Iterator[Pair], pick: Callable[[Any], object] | None = None
    ) -> Iterator[Any]:
        return MapIterator(self, items, pick)

    def _writable(self) -> SortedEntries:
        entries = self._load()
        if entries is None:
            entries = SortedEntries()
        self._version += 1
        self._store(entries)
        return entries  # type: ignore[no-any-return]

    def _discard(self, key: object) -> None:
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
