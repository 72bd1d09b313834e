"""A list per key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyflink_on_spark._runtime.state.declared import element_fit
from pyflink_on_spark._runtime.state.keyed_state import MergingState


class Elements:
    """What a list state holds: can be iterated over, more than once, and nothing else.

    Args:
        elements: a list.
    """

    __slots__ = ("_elements",)

    def __init__(self, elements: Iterable[Any]) -> None:
        self._elements = elements

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the elements."""
        return iter(self._elements)


class ListState(MergingState):
    """The list of the current key."""

    __slots__ = ()
    kind = "list"

    def get(self) -> Iterable[Any]:
        """Return the elements; nothing to iterate over when there are none."""
        return Elements(self._table.current.get(self._backend.key, ()))

    def add(self, value: Any) -> None:
        """Append an element."""
        if self._fit is not None:
            value = self._fit(value)
        table = self._table
        key = self._backend.key
        elements = table.current.get(key)
        if elements is None:
            table.current[key] = [value]
        else:
            elements.append(value)
        if table.changed is not None:
            table.changed[table.namespace].add(key)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append elements."""
        self._append(self._fitting(values))

    def update(self, values: Iterable[Any]) -> None:
        """Replace the list."""
        elements = self._fitting(values)
        self.clear()
        self._append(elements)

    def put_whole(self, value: Any) -> None:
        """Replace what the current key has."""
        self.update(value)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the elements."""
        return iter(self.get())

    def declare(self, name: str, type_info: Any, converted: bool) -> None:
        """Say of which type the list has to be."""
        self._fit = element_fit(name, type_info, converted)

    def _fitting(self, values: Iterable[Any]) -> list[Any]:
        fit = self._fit
        return list(values) if fit is None else [fit(value) for value in values]

    def _append(self, elements: list[Any]) -> None:
        if elements:
            known = self._load()
            if known is None:
                self._store(elements)
            else:
                known += elements
                self._store(known)

    def _merged(self, first: list[Any], second: list[Any]) -> list[Any]:
        return first + second
