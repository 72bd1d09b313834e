"""A map that knows the order of its keys."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Any

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

    def __init__(self, values: dict[Any, Any] | None = None) -> None:
        self.values = {} if values is None else values
        self._keys: list[Any] = []
        self._new: list[Any] = list(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return SortedEntries, (self.values,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SortedEntries) and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.values)

    def put(self, key: Any, value: Any) -> None:
        """Set an entry.

        Raises:
            TypeError: the key cannot be compared with the others.
            ValueError: the key is not equal to itself, as NaN.
        """
        if key not in self.values:
            self._add_key(key)
        self.values[key] = value

    def remove(self, key: Any) -> None:
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

    def items(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield entries in order, by position; nothing must be changed meanwhile."""
        values, keys = self.values, self.keys()
        for position in range(start, len(keys) if stop is None else stop):
            key = keys[position]
            yield key, values[key]

    def position(self, key: Any) -> int:
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
