"""The keyed state of an operator over rows: marks changes, and expires entries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from pyflink_on_spark._runtime.state.time_to_live import StateTable, Sweep, TimeToLive, stamps_of

_MOST_AT_ONCE = 1_000
_FEW = 100
"""A small table is checked as often as one with so many entries more."""
_ROUNDS = 2
"""How often each entry is checked in the time that it lives."""

note_nothing: Callable[[Any], object] = ().count
"""Takes a key and does nothing, in C."""


class KeyedRows:
    """The entries of one state, by key.

    Loops over rows take ``current``, a dict, and ``note`` into locals; both stay the same. An entry
    of ``current`` that is set, removed, or changed in place has to be noted: ``note(key)``. That is
    all that a checkpoint of changes needs, and a time to live.

    Rows of windows are in a namespace for each window, with entries of its own.

    Entries of the kind ``value`` expire as a whole, and ``current`` hides that they are stamped. In
    lists and maps each element and value has a stamp of its own, which the operator sees: a pair of
    the time (ms) and what was stored.

    Args:
        table: where the entries are.
        time_to_live: None if they are kept without limit.
    """

    __slots__ = ("_checked", "_credit", "_sweep", "_table", "current", "note", "time_to_live")

    def __init__(self, table: StateTable, time_to_live: TimeToLive | None) -> None:
        self._table, self.time_to_live = table, time_to_live
        changed = table.changed
        note = note_nothing if changed is None else changed[None].add
        self.current: Any = table.current
        self.note: Callable[[Any], object] = note
        if time_to_live is None:
            return
        stamps = stamps_of(table.kind)
        self._sweep = Sweep(table, lambda entry: stamps.left(entry, time_to_live.latest_expired()))
        self._checked, self._credit = time_to_live.now(), 0.0
        if table.kind == "value":
            self.current = entries = _StampedEntries(table.current, time_to_live, note)
            self.note = entries.note

    def namespace(self, name: Hashable) -> tuple[Any, Callable[[Any], object]]:
        """Return ``current`` and ``note`` of a namespace, which is made if it is not there."""
        changed = self._table.changed
        note = note_nothing if changed is None else changed[name].add
        return self._table.namespaces.setdefault(name, {}), note

    def namespaces(self) -> Iterator[Any]:
        """Yield the namespaces that have entries."""
        for name, entries in self._table.namespaces.items():
            if name is not None and len(entries):
                yield name

    def note_all(self, name: Hashable) -> None:
        """Note all entries of a namespace."""
        changed = self._table.changed
        if changed is not None:
            changed[name].update(self._table.namespaces[name])

    def remove(self, name: Hashable) -> None:
        """Remove a namespace with its entries."""
        self.note_all(name)
        del self._table.namespaces[name]

    def check_some(self, now: int) -> None:
        """Remove some expired entries; frequent calls remove all in time.

        Args:
            now: the time of the clock (ms).
        """
        life = self.time_to_live
        if life is None or now <= self._checked:
            return
        count = self._table.count()
        self._credit += (count + _FEW) * _ROUNDS * (now - self._checked) / life.duration
        self._checked = now
        due = min(int(self._credit), _MOST_AT_ONCE, count + 1)
        if due:
            self._credit = min(self._credit - due, count + _FEW)
            self._sweep.some(due)


class _StampedEntries:
    """Entries that expire as a whole, used like a dict.

    Args:
        entries: by key, each a pair of its stamp and itself.
        time_to_live: how long they live.
        mark: marks a key as changed.
    """

    __slots__ = ("_duration", "_entries", "_mark", "_now", "_time")

    def __init__(
        self, entries: Any, time_to_live: TimeToLive, mark: Callable[[Any], object]
    ) -> None:
        self._entries, self._mark = entries, mark
        self._duration, self._time = time_to_live.duration, time_to_live.now
        self._now = self._time()

    def get(self, key: object, default: object = None) -> Any:
        """Return an entry that has not expired."""
        now = self._now = self._time()
        stamped = self._entries.get(key)
        if stamped is None:
            return default
        if stamped[0] <= now - self._duration:
            del self._entries[key]
            self._mark(key)
            return default
        return stamped[1]

    def __setitem__(self, key: object, entry: object) -> None:
        self._entries[key] = self._time(), entry

    def __delitem__(self, key: object) -> None:
        del self._entries[key]

    def pop(self, key: object, default: object = None) -> Any:
        """Remove and return an entry that has not expired."""
        entry = self.get(key)
        if entry is None:
            return default
        del self._entries[key]
        return entry

    def note(self, key: object) -> None:
        """Note that an entry changed, which prolongs its life."""
        stamped = self._entries.get(key)
        if stamped is not None and stamped[0] != self._now:
            self._entries[key] = self._now, stamped[1]
        self._mark(key)
