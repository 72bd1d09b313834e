"""One key group of an operator, with all changes applied: what readers see and writers change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._runtime.state.moved_in import MAP, PIECES
from pyflink_on_spark._runtime.state.snapshot import (
    KeyGroupState,
    Piece,
    StateMeta,
    Tables,
    Timer,
)

_UNSTAMPED: dict[str, Callable[[Any], Any]] = {
    "list": lambda entry: [value for _, value in entry],
    "map": lambda entry: {key: value for key, (_, value) in entry.items()},
}
_UNSTAMPED |= {PIECES: _UNSTAMPED["list"], MAP: _UNSTAMPED["map"]}
_STAMPED: dict[str, Callable[[int, Any], Any]] = {
    "list": lambda stamp, value: [(stamp, one) for one in value],
    "map": lambda stamp, value: {key: (stamp, one) for key, one in value.items()},
}
_STAMP: dict[str, Callable[[Any], int]] = {
    "list": lambda entry: max(stamp for stamp, _ in entry),
    "map": lambda entry: max(stamp for stamp, _ in entry.values()),
}


@dataclass(slots=True)
class KeyGroupContents:
    """The states and timers of the keys of one key group.

    Args:
        states: what has to be known of each state.
        tables: the entries.
        timers: the timers, in the order in which they were registered.
    """

    states: dict[str, StateMeta] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    timers: dict[Timer, None] = field(default_factory=dict)

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> KeyGroupContents:
        """Return what the pieces of a key group make together, the older ones first."""
        contents = cls()
        for piece in pieces:
            contents._take(piece)
        return contents

    def to_piece(self) -> KeyGroupState:
        """Return the contents as a checkpoint has them."""
        return KeyGroupState(self.states, self.tables, list(self.timers))

    def __bool__(self) -> bool:
        return bool(self.timers) or any(
            entries for namespaces in self.tables.values() for entries in namespaces.values()
        )

    def _take(self, piece: Piece) -> None:
        self.states |= piece.states
        for name, namespace, key, value in piece.entries:
            table = self.tables.setdefault(name, {}).setdefault(namespace, {})
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        if isinstance(piece, KeyGroupState):
            self.timers |= dict.fromkeys(piece.timers)
            return
        for timer, present in piece.timers:
            if present:
                self.timers[timer] = None
            else:
                self.timers.pop(timer, None)


Reader = Callable[[Any], Any]


def reader_of(meta: StateMeta) -> Reader:
    """Return what takes the stamps of a time to live off an entry."""
    if not meta.stamped:
        return lambda entry: entry
    return _UNSTAMPED.get(meta.kind, lambda entry: entry[1])


def rewritten(meta: StateMeta, entry: Any, value: Any) -> Any:
    """Return an entry with another value, which is as old as the entry.

    Args:
        meta: of the state.
        entry: as it was.
        value: the new value, without stamps; not empty.
    """
    if not meta.stamped:
        return value
    if meta.kind not in _STAMPED:
        return entry[0], value
    return _STAMPED[meta.kind](_STAMP[meta.kind](entry), value)
