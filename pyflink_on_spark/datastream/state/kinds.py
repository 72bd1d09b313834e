"""The kinds of state, as a user's function sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.state.descriptors import MapStateDescriptor

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class OperatorStateStore(ABC):
    """Gives access to state that belongs to no key."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState:
        """Return a map that every parallel instance has a copy of.

        Args:
            state_descriptor: its name and types.
        """


class State(ABC):
    """The root of all kinds of state; keyed state is always that of the current key."""

    @abstractmethod
    def clear(self) -> None:
        """Remove the current key's content."""


class ValueState(State, Generic[T]):
    """Holds one value."""

    @abstractmethod
    def value(self) -> T:
        """Return the value; None when there is none."""

    @abstractmethod
    def update(self, value: T) -> None:
        """Replace the value; None removes it."""


class AppendingState(State, Generic[IN, OUT]):
    """Holds what becomes of all that is added."""

    @abstractmethod
    def get(self) -> OUT:
        """Return the result of the aggregation."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add one more value."""


class MergingState(AppendingState[IN, OUT]):
    """An appending state, two of which can be made one."""


class ReducingState(MergingState[T, T]):
    """Holds one value that all added values are reduced to; ``get()`` is None at first."""


class AggregatingState(MergingState[IN, OUT]):
    """Holds an accumulator of all that is added; ``get()`` is its result, None at first."""


class ListState(MergingState[T, Iterable[T]]):
    """Holds a list; ``get()`` is an iterable of its elements, empty at first."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace the whole list."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Add several values at the end."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class _ReadableMap(State, Generic[K, V]):
    """Has the entries of a map."""

    @abstractmethod
    def get(self, key: K) -> V:
        """Return the value of a key; None when there is none."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """True if the key has a value."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return the pairs of key and value."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return the keys."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return the values."""

    @abstractmethod
    def is_empty(self) -> bool:
        """True if the map has no entry."""

    def __getitem__(self, key: K) -> V:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class _WritableMap(_ReadableMap[K, V]):
    """Changes the entries of a map."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys.

        Args:
            dict_value: pairs of key and value, such as ``a_dict.items()``.
        """

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a key; one that is not there is fine."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class MapState(_WritableMap[K, V]):
    """Holds a map; it must not be changed while it is iterated."""

    def get_internal_state(self) -> MapState[K, V]:
        """Return the current key's map: the same methods, as in PyFlink."""
        return self


class ReadOnlyBroadcastState(_ReadableMap[K, V]):
    """A broadcast map as the side that is not broadcast sees it."""


class BroadcastState(_WritableMap[K, V], ReadOnlyBroadcastState[K, V]):
    """A broadcast map; every parallel instance has to change it in the same way."""
