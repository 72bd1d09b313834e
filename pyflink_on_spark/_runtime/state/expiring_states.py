"""The kinds of keyed state with a time to live.

Entries are stamped: a pair of time (ms) and value. Lists and maps stamp each element and entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.keyed_state import (
    AggregatingState,
    Elements,
    ListState,
    ReducingState,
    ValueState,
)
from pyflink_on_spark._runtime.state.map_state import MapState
from pyflink_on_spark._runtime.state.time_to_live import Stamps, Sweep, TimeToLive, stamps_of

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.keyed_state import KeyedState, StateTable

    Base = KeyedState
else:
    Base = object


class Expiring(Base):
    """The common part of all kinds of state that expire."""

    time_to_live: TimeToLive
    sweep: Sweep
    _stamps: Stamps

    def expire(self, time_to_live: TimeToLive, table: StateTable) -> None:
        """Say by which rules the state expires."""
        self.time_to_live = time_to_live
        self._stamps = stamps_of(table.kind)
        self.sweep = Sweep(table, self._left)

    def _accessed(self) -> TimeToLive:
        """Remove some expired entries of other keys."""
        rules = self.time_to_live
        if rules.checked_per_access:
            self.sweep.some(rules.checked_per_access)
        return rules

    def _left(self, entry: object) -> Any:
        """Return the unexpired part of an entry, or None; the same entry if nothing expired."""
        return self._stamps.left(entry, self.time_to_live.latest_expired())


class ExpiringSingle(Expiring):
    """An entry that expires as a whole."""

    def _load(self) -> object:
        rules = self._accessed()
        entry = super()._load()
        if entry is None:
            return None
        stamp, value = entry
        if stamp <= rules.latest_expired():
            self.clear()
            return value if rules.returns_expired else None
        if rules.prolonged_by_reading:
            super()._store(rules.stamp(value))
        return value

    def _store(self, entry: object) -> None:
        super()._store(self._accessed().stamp(entry))


class ExpiringValueState(ExpiringSingle, ValueState):
    """A value that expires."""

    def value(self) -> object:
        """Return the value, or None."""
        return self._load()

    def update(self, value: object) -> None:
        """Set the value; None removes an untyped one, and has no declared type."""
        self._keep(value)


class ExpiringReducingState(ExpiringSingle, ReducingState):
    """A reduced value that expires."""


class ExpiringAggregatingState(ExpiringSingle, AggregatingState):
    """An accumulator that expires."""


class ExpiringListState(Expiring, ListState):
    """A list whose elements expire one by one."""

    def get(self) -> Iterable[object]:
        """Return the elements that have not expired."""
        rules = self._accessed()
        entry = self._load()
        if entry is None:
            return Elements(())
        left = self._left(entry)
        if left is None:
            self.clear()
        elif rules.prolonged_by_reading:
            now = rules.now()
            self._store([(now, value) for _, value in left])
        elif left is not entry and not rules.returns_expired:
            self._store(left)
        seen = entry if rules.returns_expired else left or ()
        return Elements([value for _, value in seen])

    def add(self, value: object) -> None:
        """Append an element."""
        self._append(self._fitting([value]))

    def _append(self, elements: list[object]) -> None:
        now = self._accessed().now()
        super()._append([(now, value) for value in elements])


class ExpiringMapState(Expiring, MapState):
    """A map whose entries expire one by one."""

    def get(self, key: object) -> object:
        """Return a value that has not expired, or None."""
        rules = self._accessed()
        entries = self._load() or {}
        key = self._kept(entries, key)
        stamped = entries.get(key)
        if stamped is None:
            return None
        stamp, value = stamped
        if stamp <= rules.latest_expired():
            self._remove_expired(entries, [key])
            return value if rules.returns_expired else None
        if rules.prolonged_by_reading:
            entries[key] = rules.stamp(value)
            self._store(entries)
        return value

    def put(self, key: object, value: object) -> None:
        """Set an entry."""
        key, value = self._fitting(key, value)
        self._writable()[key] = self._accessed().stamp(value)

    def put_all(self, dict_value: Iterable[tuple[object, object]]) -> None:
        """Set entries, given as pairs: ``d.items()``, not ``d``."""
        now = self._accessed().now()
        entries = self._writable()
        for key, value in dict_value:
            key, value = self._fitting(key, value)
            entries[key] = now, value
        if not entries:
            self.clear()

    def is_empty(self) -> bool:
        """True if all entries have expired."""
        return not self._visible(self._accessed())

    def _entries(self) -> dict[object, object]:
        rules = self._accessed()
        visible = self._visible(rules)
        if rules.prolonged_by_reading and (entries := self._load()):
            now = rules.now()
            for key, (_, value) in entries.items():
                entries[key] = now, value
            self._store(entries)
        return visible

    def _visible(self, rules: TimeToLive) -> dict[object, object]:
        """Return the entries that a reader sees, without stamps; remove expired ones."""
        entries = self._load()
        if entries is None:
            return {}
        latest = rules.latest_expired()
        expired = [key for key, (stamp, _) in entries.items() if stamp <= latest]
        hidden = () if rules.returns_expired else set(expired)
        visible = {key: value for key, (_, value) in entries.items() if key not in hidden}
        self._remove_expired(entries, expired)
        return visible

    def _remove_expired(self, entries: dict[object, object], expired: list[object]) -> None:
        for key in expired:
            del entries[key]
        if expired:
            if entries:
                self._store(entries)
            else:
                super(MapState, self).clear()
