"""Tables of state, the rules by which their entries expire, and the removal of expired ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Protocol

from pyflink_on_spark._runtime.elements.clock import Clock

Purge = Callable[[Any], Any]
"""Makes of an entry what is left of it, or None; returns the entry itself if nothing expired."""
Place = tuple[Hashable, Any]
"""A namespace and a key."""


class TimeToLive:
    """The time after which an entry of a state expires, and the ways to remove it.

    What is stored is stamped with the time at which it was last written (or read, if reading
    prolongs its life).

    Args:
        duration: how long (ms).
        clock: processing time.
    """

    prolonged_by_reading = False
    returns_expired = False
    purged_by_snapshots = False
    checked_per_access = checked_per_record = 0

    def __init__(self, duration: int, clock: Clock) -> None:
        self.duration = duration
        self._clock = clock

    @classmethod
    def configured(cls, config: Any, clock: Clock) -> TimeToLive:
        """Return the rules that a StateTtlConfig describes."""
        rules = cls(milliseconds(config.get_ttl()), clock)
        rules.prolonged_by_reading = config.get_update_type().name == "OnReadAndWrite"
        visibility = config.get_state_visibility().name
        rules.returns_expired = visibility == "ReturnExpiredIfNotCleanedUp"
        strategies = config.get_cleanup_strategies()
        incremental = strategies.get_incremental_cleanup_strategy()
        if incremental is not None:
            rules.checked_per_access = incremental.get_cleanup_size()
            if incremental.run_cleanup_for_every_record():
                rules.checked_per_record = rules.checked_per_access
        compaction = strategies.get_rocksdb_compact_filter_cleanup_strategy()
        rules.purged_by_snapshots = strategies.in_full_snapshot() or compaction is not None
        return rules

    def now(self) -> int:
        """Return the stamp for values written now (ms)."""
        return self._clock.now()

    def latest_expired(self) -> int:
        """Return the latest stamp (ms) that has expired."""
        return self._clock.now() - self.duration

    def stamp(self, value: object) -> tuple[int, object]:
        """Return a value with the time of now."""
        return self._clock.now(), value


def milliseconds(duration: Any) -> int:
    """Return the length of a Time or a Duration."""
    if hasattr(duration, "to_milliseconds"):
        return int(duration.to_milliseconds())
    return int(duration.to_millis())


class Sweep:
    """Sweeps over a table in turns of a few entries, and removes expired ones.

    Args:
        table: of a state that expires.
        purge: says what is left of an entry.
    """

    __slots__ = ("_entries", "_purge", "_table")

    def __init__(self, table: StateTable, purge: Purge) -> None:
        self._table = table
        self._purge = purge
        self._entries: Iterator[tuple[Hashable, Any, Any]] = iter(())

    def some(self, count: int) -> None:
        """Check the next entries."""
        for _ in range(count):
            found = next(self._entries, None)
            if found is None:
                self._entries = self._table.entries()
                found = next(self._entries, None)
                if found is None:
                    return
            self._check(*found)

    def all(self) -> None:
        """Check every entry."""
        for namespace, key, entry in self._table.entries():
            self._check(namespace, key, entry)

    def _check(self, namespace: Hashable, key: object, seen: object) -> None:
        if self._purge(seen) is seen:
            return
        table = self._table
        entry = table.get(namespace, key)
        if entry is None:
            return
        left = self._purge(entry)
        if left is entry:
            return
        if left is None:
            table.remove(namespace, key)
        else:
            table.put(namespace, key, left)
        if table.changed is not None:
            table.changed[namespace].add(key)


class Stamps(Protocol):
    """The place of the stamps (ms) in the entries of a kind of state."""

    def stamped(self, entry: object, now: int) -> Any:
        """Return an entry with stamps."""
        ...

    def unstamped(self, entry: object) -> object:
        """Return an entry without its stamps."""
        ...

    def left(self, entry: object, latest: int) -> Any:
        """Return the unexpired part of an entry, or None; the same entry if nothing expired.

        Args:
            entry: with stamps.
            latest: the latest stamp that has expired.
        """
        ...


class _OfEntries:
    """A stamp for an entry as a whole."""

    def stamped(self, entry: object, now: int) -> Any:
        return now, entry

    def unstamped(self, entry: Any) -> object:
        return entry[1]

    def left(self, entry: Any, latest: int) -> Any:
        return None if entry[0] <= latest else entry


class _OfElements:
    """A stamp for each element of a list."""

    def stamped(self, entry: Any, now: int) -> object:
        return [(now, value) for value in entry]

    def unstamped(self, entry: Any) -> object:
        return [value for _, value in entry]

    def left(self, entry: Any, latest: int) -> Any:
        left = [stamped for stamped in entry if stamped[0] > latest]
        if len(left) == len(entry):
            return entry
        return left or None


class _OfValues:
    """A stamp for each value of a map."""

    def stamped(self, entry: Any, now: int) -> Any:
        return {key: (now, value) for key, value in entry.items()}

    def unstamped(self, entry: Any) -> object:
        return {key: value for key, (_, value) in entry.items()}

    def left(self, entry: Any, latest: int) -> Any:
        left = {key: stamped for key, stamped in entry.items() if stamped[0] > latest}
        if len(left) == len(entry):
            return entry
        return left or None


_WHOLE = _OfEntries()
_STAMPS: dict[str, Stamps] = {"list": _OfElements(), "map": _OfValues()}


def stamps_of(kind: str) -> Stamps:
    """Return where the entries of a kind of state have their stamps."""
    return _STAMPS.get(kind, _WHOLE)


def set_stamped(table: StateTable, stamped: bool, now: int) -> None:
    """Make a table's entries what a state with (or without) a time to live expects.

    Args:
        table: may hold entries from before a restart.
        stamped: whether the state has a time to live.
        now: the stamp that entries get (ms).
    """
    if table.stamped is not None and table.stamped != stamped:
        stamps = stamps_of(table.kind)
        for namespace, key in table.places():
            entry = table.get(namespace, key)
            converted = stamps.stamped(entry, now) if stamped else stamps.unstamped(entry)
            table.put(namespace, key, converted)
            if table.changed is not None:
                table.changed[namespace].add(key)
    table.stamped = stamped


class StateTable:
    """The entries of one state of one operator.

    ``current`` is the dict of the namespace in use. ``changed`` has the keys of the entries that
    changed since the last checkpoint, by namespace, or is None if changes are not tracked. The dict
    and the changed keys of the namespace None are always the same objects, so that a loop may keep
    references.

    Args:
        kind: as a descriptor's ``_kind``, for example ``value``.
        track: whether to note which entries change.
    """

    __slots__ = ("changed", "current", "kind", "namespace", "namespaces", "stamped")

    def __init__(self, kind: str, track: bool) -> None:
        self.kind = kind
        self.stamped: bool | None = None
        self.current: dict[Any, Any] = {}
        self.namespace: Hashable = None
        self.namespaces: dict[Hashable, dict[Any, Any]] = {None: self.current}
        self.changed: defaultdict[Hashable, set[Any]] | None = None
        if track:
            self.changed = defaultdict(set)
            self.changed[None] = set()

    def use(self, namespace: Hashable) -> None:
        """Make a namespace the one in use."""
        if namespace == self.namespace:
            return
        if not self.current and self.namespace is not None:
            del self.namespaces[self.namespace]
        self.namespace = namespace
        self.current = self.namespaces.setdefault(namespace, {})

    def all_entries(self) -> Iterator[tuple[Hashable, dict[object, object]]]:
        """Yield namespaces and entries by key; none of it for changing, and nothing may change."""
        yield from self.namespaces.items()

    def count(self) -> int:
        """Return how many entries there are."""
        return sum(map(len, self.namespaces.values()))

    def size(self) -> int:
        """Return how many entries there are in memory."""
        return self.count()

    def places(self) -> Iterator[Place]:
        """Yield the place of each entry there is now; entries may change meanwhile."""
        for namespace, table in list(self.namespaces.items()):
            for key in list(table):
                yield namespace, key

    def entries(self) -> Iterator[tuple[Hashable, Any, Any]]:
        """Yield namespace, key and value of each entry; entries may change meanwhile.

        A value may be as it was a moment ago.
        """
        for namespace, key in self.places():
            entry = self.get(namespace, key)
            if entry is not None:
                yield namespace, key, entry

    def changes(self) -> Iterator[tuple[Hashable, Any, Any]]:
        """Yield the entries that changed: namespace, key, and the value; None if it is gone."""
        for namespace, keys in (self.changed or {}).items():
            for key in keys:
                yield namespace, key, self.get(namespace, key)

    def change_count(self) -> int:
        """Return how many entries changed."""
        return sum(map(len, (self.changed or {}).values()))

    def forget_changes(self) -> None:
        """Let ``changes`` yield later changes only."""
        changed = self.changed
        if changed is not None:
            kept = changed[None]
            kept.clear()
            changed.clear()
            changed[None] = kept

    def get(self, namespace: Hashable, key: Any) -> Any:
        """Return an entry of any namespace, or None."""
        table = self.namespaces.get(namespace)
        return None if table is None else table.get(key)

    def put(self, namespace: Hashable, key: object, value: object) -> None:
        """Set an entry of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {})[key] = value

    def put_all(self, namespace: Hashable, entries: dict[object, object]) -> None:
        """Set entries of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {}).update(entries)

    def remove(self, namespace: Hashable, key: object) -> None:
        """Remove an entry of any namespace, if it is there; this is not noted as a change."""
        table = self.namespaces.get(namespace)
        if table is None:
            return
        table.pop(key, None)
        if not table and namespace != self.namespace and namespace is not None:
            del self.namespaces[namespace]

    def drop_key(self, key: object) -> None:
        """Remove a key's entries in all namespaces."""
        for namespace in [space for space, table in self.namespaces.items() if key in table]:
            self.remove(namespace, key)
            if self.changed is not None:
                self.changed[namespace].add(key)
