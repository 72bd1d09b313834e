"""Sorts keyed state by key group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain, islice
from typing import Any

from pyflink_on_spark._runtime.key_groups.assignment import KeyGroups
from pyflink_on_spark._runtime.state.snapshot import (
    KeyGroupState,
    StateDelta,
    StateMeta,
    Timer,
)

_AT_ONCE = 10_000


class KeyGroupPartitioner:
    """Collects entries and timers, and has them by key group.

    Args:
        states: what has to be known of all states.
        key_groups: the key groups of keys.
    """

    def __init__(self, states: dict[str, StateMeta], key_groups: KeyGroups) -> None:
        self.count = 0
        self._states, self._key_groups = states, key_groups
        self._groups: dict[int, KeyGroupState] = {}
        self._unsorted: list[tuple[str, Hashable, dict[Any, Any]]] = []
        self._unsorted_count = 0

    def add(self, name: str, namespace: Hashable, entries: dict[Any, Any]) -> None:
        """Take in entries of a state, which must not change before they are taken."""
        self.count += len(entries)
        self._unsorted.append((name, namespace, entries))
        self._unsorted_count += len(entries)
        if self._unsorted_count >= _AT_ONCE:
            self._sort()

    def add_timers(self, timers: Iterable[Timer]) -> None:
        """Take in timers."""
        timers = list(timers)
        of_timers = self._key_groups.of_all([timer[2] for timer in timers])
        for group, timer in zip(of_timers, timers, strict=True):
            self._group(group).timers.append(timer)

    def take(self) -> dict[int, KeyGroupState]:
        """Return the groups sorted so far, once."""
        self._sort()
        groups, self._groups, self.count = self._groups, {}, 0
        return groups

    def _sort(self) -> None:
        unsorted, self._unsorted, self._unsorted_count = self._unsorted, [], 0
        keys = chain.from_iterable(entries for _, _, entries in unsorted)
        groups = iter(self._key_groups.of_all(keys))
        for name, namespace, entries in unsorted:
            of_keys = islice(groups, len(entries))
            for group, found in _by_group(of_keys, entries).items():
                known = self._group(group).tables.setdefault(name, {})
                if namespace in known:
                    known[namespace].update(found)
                else:
                    known[namespace] = found

    def _group(self, group: int) -> KeyGroupState:
        found = self._groups.get(group)
        if found is None:
            found = self._groups[group] = KeyGroupState(self._states)
        return found


def _by_group(of_keys: Iterable[int], entries: dict[Any, Any]) -> dict[int, dict[Any, Any]]:
    groups: dict[int, dict[Any, Any]] = {}
    find = groups.get
    for group, (key, value) in zip(of_keys, entries.items(), strict=True):
        found = find(group)
        if found is None:
            found = groups[group] = {}
        found[key] = value
    return groups


def changes_by_group(changes: StateDelta, key_groups: KeyGroups) -> dict[int, StateDelta]:
    """Return changes by key group."""
    groups: dict[int, StateDelta] = {}

    def of(group: int) -> StateDelta:
        found = groups.get(group)
        if found is None:
            found = groups[group] = StateDelta(changes.states, [], [])
        return found

    of_entries = key_groups.of_all([entry[2] for entry in changes.entries])
    for group, entry in zip(of_entries, changes.entries, strict=True):
        of(group).entries.append(entry)
    of_timers = key_groups.of_all([change[0][2] for change in changes.timers])
    for group, change in zip(of_timers, changes.timers, strict=True):
        of(group).timers.append(change)
    return groups
