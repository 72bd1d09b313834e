"""Stamps: the times that entries with a time to live carry."""

from __future__ import annotations

from typing import Any, Protocol

from pyflink_on_spark._runtime.state.table import StateTable


class Stamps(Protocol):
    """Where the entries of a kind of state have their stamps (ms)."""

    def stamped(self, entry: Any, now: int) -> Any:
        """Return an entry with stamps."""
        ...

    def unstamped(self, entry: Any) -> Any:
        """Return an entry without its stamps."""
        ...

    def left(self, entry: Any, latest: int) -> Any:
        """Return what is left of an entry, or None; the entry itself if nothing expired.

        Args:
            entry: with stamps.
            latest: the latest stamp that has expired.
        """
        ...


class _OfEntries:
    """A stamp for an entry as a whole."""

    def stamped(self, entry: Any, now: int) -> Any:
        return now, entry

    def unstamped(self, entry: Any) -> Any:
        return entry[1]

    def left(self, entry: Any, latest: int) -> Any:
        return None if entry[0] <= latest else entry


class _OfElements:
    """A stamp for each element of a list."""

    def stamped(self, entry: Any, now: int) -> Any:
        return [(now, value) for value in entry]

    def unstamped(self, entry: Any) -> Any:
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

    def unstamped(self, entry: Any) -> Any:
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
