"""The rules by which the entries of a state expire, and the removal of expired ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.elements.time import Clock

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.keyed_state import StateTable

Purge = Callable[[object], object]
"""Makes of an entry what is left of it, or None; returns the entry itself if nothing expired."""


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
        self._entries: Iterator[tuple[Hashable, object, object]] = iter(())

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

    def stamped(self, entry: object, now: int) -> object:
        """Return an entry with stamps."""
        ...

    def unstamped(self, entry: object) -> object:
        """Return an entry without its stamps."""
        ...

    def left(self, entry: object, latest: int) -> object:
        """Return the unexpired part of an entry, or None; the same entry if nothing expired.

        Args:
            entry: with stamps.
            latest: the latest stamp that has expired.
        """
        ...


class _OfEntries:
    """A stamp for an entry as a whole."""

    def stamped(self, entry: object, now: int) -> object:
        return now, entry

    def unstamped(self, entry: Any) -> object:
        return entry[1]

    def left(self, entry: Any, latest: int) -> object:
        return None if entry[0] <= latest else entry


class _OfElements:
    """A stamp for each element of a list."""

    def stamped(self, entry: Any, now: int) -> object:
        return [(now, value) for value in entry]

    def unstamped(self, entry: Any) -> object:
        return [value for _, value in entry]

    def left(self, entry: Any, latest: int) -> object:
        left = [stamped for stamped in entry if stamped[0] > latest]
        if len(left) == len(entry):
            return entry
        return left or None


class _OfValues:
    """A stamp for each value of a map."""

    def stamped(self, entry: Any, now: int) -> object:
        return {key: (now, value) for key, value in entry.items()}

    def unstamped(self, entry: Any) -> object:
        return {key: value for key, (_, value) in entry.items()}

    def left(self, entry: Any, latest: int) -> object:
        left = {key: stamped for key, stamped in entry.items() if stamped[0] > latest}
        if len(left) == len(entry):
            return entry
        return left or None


_WHOLE = _OfEntries()
_STAMPS: dict[str, Stamps] = {"list": _OfElements(), "map": _OfValues()}


def stamps_of(kind: str) -> Stamps:
    """Return where the entries of a kind of state have their stamps."""
    return _STAMPS.get(kind, _WHOLE)
