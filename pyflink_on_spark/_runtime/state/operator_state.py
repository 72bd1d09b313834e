"""State that belongs to no key: lists that are redistributed, and broadcast maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._runtime.state.keyed_state import Coercion, entry_coercions
from pyflink_on_spark._runtime.state.map_state import ReadableMap, WritableMap
from pyflink_on_spark._runtime.state.moved_in import ENCODED, decoder


class BroadcastState(WritableMap):
    """A map of which every parallel instance has a copy.

    Args:
        entries: where the entries are.
        fit_key: what is done to a key that is put in; None for nothing.
        fit_value: the same for a value.
    """

    __slots__ = ("_content", "_fit_key", "_fit_value", "_version")

    def __init__(
        self,
        entries: dict[object, object],
        fit_key: Coercion | None = None,
        fit_value: Coercion | None = None,
    ) -> None:
        self._content = entries
        self._fit_key, self._fit_value = fit_key, fit_value
        self._version = 0

    def put(self, key: object, value: object) -> None:
        """Set an entry."""
        if self._fit_key is not None:
            key = self._fit_key(key)
        if self._fit_value is not None:
            value = self._fit_value(value)
        self._content[key] = value
        self._version += 1

    def put_all(self, dict_value: Iterable[tuple[object, object]]) -> None:
        """Set entries, given as pairs: ``d.items()``, not ``d``."""
        for key, value in dict_value:
            self.put(key, value)

    def clear(self) -> None:
        """Remove all entries."""
        self._content.clear()
        self._version += 1

    def read_only(self) -> ReadOnlyBroadcastState:
        """Return a read-only view of the state."""
        return ReadOnlyBroadcastState(self)

    def _entries(self) -> dict[object, object]:
        return self._content

    def _discard(self, key: object) -> None:
        self._version += 1
        self._content.pop(key, None)


class ReadOnlyBroadcastState(ReadableMap):
    """A broadcast state on the side that must not change it.

    Args:
        state: the state.
    """

    __slots__ = ("_state",)

    def __init__(self, state: BroadcastState) -> None:
        self._state = state

    @property
    def _version(self) -> int:  # type: ignore[override]
        return self._state._version

    def clear(self) -> None:
        """Remove all entries, as PyFlink does here; the other instances keep theirs."""
        self._state.clear()

    def _entries(self) -> dict[object, object]:
        return self._state._entries()

    def _discard(self, key: object) -> None:
        self._state._discard(key)


class OperatorListState:
    """A list of one subtask; all subtasks' lists together are the state.

    Args:
        elements: what it holds.
    """

    __slots__ = ("_elements",)

    def __init__(self, elements: list[object]) -> None:
        self._elements = elements

    def get(self) -> list[Any]:
        """Return a copy of the elements."""
        return list(self._elements)

    def add(self, value: object) -> None:
        """Append an element."""
        self._elements.append(value)

    def add_all(self, values: Iterable[object]) -> None:
        """Append elements."""
        self._elements.extend(values)

    def update(self, values: Iterable[object]) -> None:
        """Replace the list."""
        self._elements[:] = list(values)

    def clear(self) -> None:
        """Remove all elements."""
        self._elements.clear()

    def __iter__(self) -> Iterator[object]:
        """Iterate over the elements."""
        return iter(self.get())


@dataclass(slots=True)
class OperatorSnapshot:
    """The operator state of one subtask. Picklable.

    Args:
        split: lists whose elements are spread over the subtasks, by name.
        union: lists of which every subtask gets all elements of all subtasks, by name.
        broadcast: maps that are the same in all subtasks, by name.
    """

    split: dict[str, list[object]] = field(default_factory=dict)
    union: dict[str, list[object]] = field(default_factory=dict)
    broadcast: dict[str, dict[Any, Any]] = field(default_factory=dict)


class OperatorState:
    """The operator state of one operator in one subtask.

    Args:
        converted: whether values are kept as their declared type makes them.
    """

    def __init__(self, converted: bool = False) -> None:
        self._converted = converted
        self._content = OperatorSnapshot()
        self._broadcast: dict[str, BroadcastState] = {}

    def list_state(self, name: str) -> OperatorListState:
        """Return a list whose elements are redistributed evenly when the parallelism changes.

        Raises:
            RuntimeError: the name belongs to a list that is union-redistributed.
        """
        _refuse(name, self._content.union, "union-redistributed")
        return OperatorListState(self._content.split.setdefault(name, []))

    def union_list_state(self, name: str) -> OperatorListState:
        """Return a list of which every subtask gets everything after a restart.

        Raises:
            RuntimeError: the name belongs to a list that is split-redistributed.
        """
        _refuse(name, self._content.split, "split-redistributed")
        return OperatorListState(self._content.union.setdefault(name, []))

    def broadcast_state(self, descriptor: Any) -> BroadcastState:
        """Return the state that a MapStateDescriptor describes; whoever asks first says its types.

        Raises:
            TypeError: the descriptor is of another kind.
        """
        if getattr(descriptor, "_kind", "map") != "map":
            raise TypeError(f"{descriptor!r} does not describe a map state")
        name = descriptor.get_name()
        state = self._broadcast.get(name)
        if state is None:
            encoded = self._content.broadcast.pop(ENCODED + name, None)
            entries = self._content.broadcast.setdefault(name, {})
            if encoded is not None:
                type_info = getattr(descriptor, "type_info", None)
                entries.update(decoder(name, "map", type_info, stamped=False)(encoded))
            fits = entry_coercions(name, getattr(descriptor, "type_info", None), self._converted)
            state = self._broadcast[name] = BroadcastState(entries, *fits)
        return state

    def snapshot(self) -> OperatorSnapshot:
        """Return everything; elements by reference.

        What is empty is no state: who has nothing else could as well not be there.
        """
        content = self._content
        return OperatorSnapshot(
            {name: list(elements) for name, elements in content.split.items() if elements},
            {name: list(elements) for name, elements in content.union.items() if elements},
            {name: dict(entries) for name, entries in content.broadcast.items() if entries},
        )

    def restore(self, snapshot: OperatorSnapshot) -> None:
        """Take over a subtask's share; before any state is asked for."""
        for name, elements in snapshot.split.items():
            self._content.split.setdefault(name, []).extend(elements)
        for name, elements in snapshot.union.items():
            self._content.union.setdefault(name, []).extend(elements)
        for name, entries in snapshot.broadcast.items():
            self._content.broadcast.setdefault(name, {}).update(entries)


def _refuse(name: str, others: dict[str, list[object]], kind: str) -> None:
    if name in others:
        raise RuntimeError(f"The state name '{name}' is already in use for a list that is {kind}.")


def redistribute(snapshots: Sequence[OperatorSnapshot], parallelism: int) -> list[OperatorSnapshot]:
    """Return the share of each subtask; lists are redistributed if the parallelism has changed.

    Args:
        snapshots: one for each subtask before.
        parallelism: how many subtasks there are now.
    """
    parts = [snapshot.split for snapshot in snapshots]
    if len(snapshots) != parallelism:
        parts = _dealt_out(_joined(parts), parallelism)
    union = _joined([snapshot.union for snapshot in snapshots])
    return [
        OperatorSnapshot(
            {name: list(elements) for name, elements in parts[index].items()},
            {name: list(elements) for name, elements in union.items()},
            {
                name: dict(entries)
                for name, entries in snapshots[index % len(snapshots)].broadcast.items()
            }
            if snapshots
            else {},
        )
        for index in range(parallelism)
    ]


def _joined(parts: Iterable[dict[str, list[object]]]) -> dict[str, list[object]]:
    joined: dict[str, list[object]] = {}
    for part in parts:
        for name, elements in part.items():
            joined.setdefault(name, []).extend(elements)
    return joined


def _dealt_out(lists: dict[str, list[object]], parallelism: int) -> list[dict[str, list[object]]]:
    return [
        {name: _share(elements, index, parallelism) for name, elements in lists.items()}
        for index in range(parallelism)
    ]


def _share(elements: list[object], index: int, parallelism: int) -> list[object]:
    """Return a subtask's part: the first ones get one more if it does not come out even."""
    size, more = divmod(len(elements), parallelism)
    start = index * size + min(index, more)
    return elements[start : start + size + (index < more)]
