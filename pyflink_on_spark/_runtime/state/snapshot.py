"""Keyed state outside the operator that it belongs to: whole, and what changed of it. Picklable."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(slots=True)
class StateMeta:
    """The kind and the type of a state, which its restore depends on.

    Args:
        kind: as a descriptor's ``_kind``, for example ``value``.
        stamped: whether it has a time to live; None if no one has asked for the state yet.
        type: the declared type of its values, as a text; None if nobody knows.
    """

    kind: str
    stamped: bool | None
    type: str | None = None


Entry = tuple[str, Hashable, object, object]
"""State, namespace, key, value; None for the value: the entry was removed."""

Timer = tuple[str, int, object, Hashable]
"""Queue (``event`` or ``processing``), time in ms, key, namespace."""

Entries = dict[object, Any]
"""The values of a state in one namespace, by key."""

Tables = dict[str, dict[Hashable, Entries]]
"""The entries of states: by state, namespace and key. Pickles several times faster than a list."""


@dataclass(slots=True)
class KeyGroupState:
    """The entries and timers of the keys of one key group, or some of them."""

    states: dict[str, StateMeta]
    tables: Tables = field(default_factory=dict)
    timers: list[Timer] = field(default_factory=list)

    @property
    def entries(self) -> list[Entry]:
        """The entries one by one."""
        return [
            (name, namespace, key, value)
            for name, namespaces in self.tables.items()
            for namespace, entries in namespaces.items()
            for key, value in entries.items()
        ]


@dataclass(slots=True)
class StateDelta:
    """The changes since a snapshot: new values of entries, and timers set or deleted."""

    states: dict[str, StateMeta]
    entries: list[Entry]
    timers: list[tuple[Timer, bool]]
    """A timer, and whether it is there."""

    def __bool__(self) -> bool:
        return bool(self.entries or self.timers)


Piece = KeyGroupState | StateDelta


class StateFiles(Protocol):
    """Files with state, which a copy of this process reads."""

    @property
    def descriptors(self) -> Iterable[int]:
        """The open files that the copy needs."""
        ...

    def freeze(self, ended: Callable[[], bool]) -> bool:
        """Keep the files for a copy, which is to be made now; return False if that is refused.

        Args:
            ended: tells whether the copy has ended.
        """
        ...

    def start_in_copy(self) -> None:
        """Make the files readable in the copy; may hang, but only before anything is read."""
        ...


class StateChunks:
    """Pieces of keyed state with the key group of each, made only when they are asked for.

    A key group may have several, which count in their order.

    Args:
        make: makes them.
        entries: how many entries they have; 0 if that is not known.
        note_taken: called when the pieces are made, here or in a copy of this process.
        files: what making them reads besides memory.
    """

    __slots__ = ("_make", "entries", "files", "note_taken")

    def __init__(
        self,
        make: Callable[[], Iterator[tuple[int, Piece]]],
        entries: int = 0,
        note_taken: Callable[[], None] = lambda: None,
        files: StateFiles | None = None,
    ) -> None:
        self._make = make
        self.entries = entries
        self.note_taken = note_taken
        self.files = files

    def items(self) -> Iterator[tuple[int, Piece]]:
        """Yield key group and piece."""
        return self._make()

    def values(self) -> Iterator[Piece]:
        """Yield the pieces."""
        return (piece for _, piece in self._make())
