"""State that expires: the rules, and who looks for what has expired."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from pyflink_on_spark._runtime.clock import Clock
from pyflink_on_spark._runtime.state.table import StateTable

Purge = Callable[[Any], Any]
"""Makes of an entry what is left of it, or None; returns the entry itself if nothing expired."""


class TimeToLive:
    """A state's StateTtlConfig, as the state asks for it.

    What is stored is stamped with the time at which it was last written (or read, if reading
    prolongs its life).

    Args:
        config: the StateTtlConfig.
        clock: processing time.
    """

    def __init__(self, config: Any, clock: Clock) -> None:
        self._duration = milliseconds(config.get_ttl())
        self._clock = clock
        self.prolonged_by_reading = config.get_update_type().name == "OnReadAndWrite"
        self.returns_expired = config.get_state_visibility().name == "ReturnExpiredIfNotCleanedUp"
        strategies = config.get_cleanup_strategies()
        incremental = strategies.get_incremental_cleanup_strategy()
        self.checked_per_access = 0 if incremental is None else incremental.get_cleanup_size()
        self.checked_per_record = (
            self.checked_per_access
            if incremental is not None and incremental.run_cleanup_for_every_record()
            else 0
        )
        compaction = strategies.get_rocksdb_compact_filter_cleanup_strategy()
        self.purged_by_snapshots = strategies.in_full_snapshot() or compaction is not None

    def now(self) -> int:
        """Return the stamp for what is written now (ms)."""
        return self._clock.now()

    def latest_expired(self) -> int:
        """Return the latest stamp (ms) that has expired."""
        return self._clock.now() - self._duration

    def stamp(self, value: Any) -> tuple[int, Any]:
        """Return a value with the time of now."""
        return self._clock.now(), value


def milliseconds(duration: Any) -> int:
    """Return the length of a Time or a Duration."""
    if hasattr(duration, "to_milliseconds"):
        return int(duration.to_milliseconds())
    return int(duration.to_millis())


class Sweep:
    """Goes round and round a table, a few entries at a time, and removes what has expired.

    Args:
        table: of a state that expires.
        purge: says what is left of an entry.
    """

    __slots__ = ("_places", "_purge", "_table")

    def __init__(self, table: StateTable, purge: Purge) -> None:
        self._table = table
        self._purge = purge
        self._places: Iterator[tuple[Hashable, Any]] = iter(())

    def some(self, count: int) -> None:
        """Check the next entries."""
        for _ in range(count):
            place = next(self._places, None)
            if place is None:
                self._places = self._table.places()
                return
            self._check(*place)

    def all(self) -> None:
        """Check every entry."""
        for namespace, key in self._table.places():
            self._check(namespace, key)

    def _check(self, namespace: Hashable, key: Any) -> None:
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
            table.changed.add((namespace, key))
