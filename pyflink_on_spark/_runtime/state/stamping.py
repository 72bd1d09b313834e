"""Gives the entries of a state stamps, or takes them off, when its time to live came or went."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.state.table import StateTable


def set_stamped(table: StateTable, stamped: bool, now: int) -> None:
    """Make a table's entries what a state with (or without) a time to live expects.

    Args:
        table: may hold entries from before a restart.
        stamped: whether the state has a time to live.
        now: the stamp that entries get (ms).
    """
    if table.stamped is not None and table.stamped != stamped:
        convert = _stamp if stamped else _unstamp
        for namespace, key in table.places():
            entry = table.get(namespace, key)
            table.put(namespace, key, convert(table.kind, entry, now))
            if table.changed is not None:
                table.changed.add((namespace, key))
    table.stamped = stamped


def _stamp(kind: str, entry: Any, now: int) -> Any:
    if kind == "list":
        return [(now, value) for value in entry]
    if kind == "map":
        return {key: (now, value) for key, value in entry.items()}
    return now, entry


def _unstamp(kind: str, entry: Any, now: int) -> Any:  # noqa: ARG001 - the same shape as _stamp
    if kind == "list":
        return [value for _, value in entry]
    if kind == "map":
        return {key: value for key, (_, value) in entry.items()}
    return entry[1]
