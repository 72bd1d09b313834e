"""How users see a map in a state: of a key, or a broadcast one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


class MapIterator:
    """Iterates over a map; fails when the map is changed in other ways than by ``remove``.

    Args:
        view: the state.
        items: pairs of the map's key and value.
        pick: makes of such a pair what is yielded.
    """

    __slots__ = ("_detached", "_items", "_last", "_pick", "_version", "_view")

    def __init__(
        self, view: ReadableMap, items: Iterable[Any], pick: Callable[[Any], Any] | None
    ) -> None:
        self._view = view
        self._version = view._version
        self._items: Iterator[Any] = iter(items)
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


def _key(item: tuple[Any, Any]) -> Any:
    return item[0]


def _value(item: tuple[Any, Any]) -> Any:
    return item[1]


class ReadableMap:
    """Reads a map. An entry with the value None is not contained, yet iterated over."""

    __slots__ = ()

    _version: int
    """Counts the changes."""

    def _entries(self) -> dict[Any, Any]:
        """Return the map as it is now; not for writing."""
        raise NotImplementedError

    def _discard(self, key: Any) -> None:
        """Remove an entry, if it is there."""
        raise NotImplementedError

    def get(self, key: Any) -> Any:
        """Return a value, or None."""
        return self._entries().get(key)

    def contains(self, key: Any) -> bool:
        """Tell whether there is a value, and it is not None."""
        return self.get(key) is not None

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries, in the order in which they were first put."""
        return MapIterator(self, self._entries().items(), None)

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return MapIterator(self, self._entries().items(), _key)

    def values(self) -> Iterator[Any]:
        """Iterate over the values."""
        return MapIterator(self, self._entries().items(), _value)

    def is_empty(self) -> bool:
        """Tell whether there are no entries."""
        return not self._entries()

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __contains__(self, key: Any) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[Any]:
        return self.keys()


class WritableMap(ReadableMap):
    """Reads and writes a map."""

    __slots__ = ()

    def put(self, key: Any, value: Any) -> None:
        """Set an entry."""
        self.put_all(((key, value),))

    def put_all(self, dict_value: Iterable[tuple[Any, Any]]) -> None:
        """Set entries, given as pairs: ``d.items()``, not ``d``."""
        raise NotImplementedError

    def remove(self, key: Any) -> None:
        """Remove an entry, if it is there."""
        self._discard(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)
