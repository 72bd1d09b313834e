"""Sorts keyed state by key group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from pyflink_on_spark._runtime.keys import key_group, key_groups
from pyflink_on_spark._runtime.state.snapshot import (
    StateDelta,
    KeyGroupState,
    StateMeta,
    Timer,
)


class KeyGroupPartitioner:
    """Collects entries and timers, and has them by key group.

    Args:
        states: what has to be known of all states.
        max_parallelism: the number of key groups.
    """

    def __init__(self, states: dict[str, StateMeta], max_parallelism: int) -> None:
        self.groups: dict[int, KeyGroupState] = {}
        self.count = 0
        self._states, self._maximum = states, max_parallelism

    def clear(self) -> None:
        """Begin again with nothing."""
        self.groups, self.count = {}, 0

    def add(self, name: str, namespace: Hashable, entries: dict[Any, Any]) -> None:
        """Take in entries of a state."""
        if not entries:
            return
        self.count += len(entries)
        sorted_entries: dict[int, dict[Any, Any]] = {}
        find = sorted_entries.get
        of_keys = key_groups(entries, self._maximum)
        for group, (key, value) in zip(of_keys, entries.items(), strict=True):
            found = find(group)
            if found is None:
                found = sorted_entries[group] = {}
            found[key] = value
        for group, found in sorted_entries.items():
            known = self._group(group).tables.setdefault(name, {})
            if namespace in known:
                known[namespace].update(found)
            else:
                known[namespace] = found

    def add_timers(self, timers: Iterable[Timer]) -> None:
        """Take in timers."""
        for timer in timers:
            self._group(key_group(timer[2], self._maximum)).timers.append(timer)

    def _group(self, group: int) -> KeyGroupState:
        found = self.groups.get(group)
        if found is None:
            found = self.groups[group] = KeyGroupState(self._states)
        return found


def changes_by_group(changes: StateDelta, max_parallelism: int) -> dict[int, StateDelta]:
    """Return changes by key group."""
    groups: dict[int, StateDelta] = {}

    def of(key: Any) -> StateDelta:
        group = key_group(key, max_parallelism)
        found = groups.get(group)
        if found is None:
            found = groups[group] = StateDelta(changes.states, [], [])
        return found

    for entry in changes.entries:
        of(entry[2]).entries.append(entry)
    for change in changes.timers:
        of(change[0][2]).timers.append(change)
    return groups
