"""Changes to the state of one operator, made while a savepoint is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.contents import TIMERS, StateEntry
from pyflink_on_spark._runtime.checkpoints.key_group_contents import (
    KeyGroupContents,
    reader_of,
    rewritten,
)
from pyflink_on_spark._runtime.elements.keys import unwrap_key
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, StateMeta

Change = Callable[[StateEntry], Any]
"""Takes an entry, returns its new value; None removes the entry."""


class Edit:
    """A change to the state of an operator."""

    key_groups: Collection[int] = ()
    """The key groups that have state after the change, whatever they had before."""

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Change a key group."""

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Change the state without keys of one subtask of several."""


@dataclass(frozen=True)
class DropState(Edit):
    """Removes a state.

    Args:
        state: its name.
    """

    state: str

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Remove the state from a key group."""
        if self.state == TIMERS:
            contents.timers.clear()
        contents.states.pop(self.state, None)
        contents.tables.pop(self.state, None)

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Remove the state from a subtask."""
        for states in _kinds(snapshot):
            states.pop(self.state, None)


@dataclass(frozen=True)
class RenameState(Edit):
    """Gives a state another name.

    Args:
        state: the name before.
        name: the name after.
    """

    state: str
    name: str

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Rename the state in a key group."""
        for by_name in (contents.states, contents.tables):
            self._rename(by_name)

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Rename the state in a subtask."""
        for states in _kinds(snapshot):
            self._rename(states)

    def _rename(self, by_name: dict[str, Any]) -> None:
        if self.state in by_name:
            by_name[self.name] = by_name.pop(self.state)


@dataclass(frozen=True)
class ChangeState(Edit):
    """Changes the entries of a state one by one; those with a time to live stay as old as they are.

    Args:
        state: its name.
        change: what is done to an entry.
    """

    state: str
    change: Change

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Change the entries of a key group."""
        meta = contents.states.get(self.state)
        if meta is not None:
            meta.type = None  # what the new values are declared to be, the job knows
        for namespace, entries in contents.tables.get(self.state, {}).items():
            assert meta is not None
            plain = reader_of(meta)
            for key, entry in list(entries.items()):
                value = self.change(StateEntry(unwrap_key(key), namespace, plain(entry)))
                if _is_nothing(meta, value):
                    del entries[key]
                else:
                    entries[key] = rewritten(meta, entry, value)

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Change the elements of a subtask's lists, and the values of a broadcast state."""
        for lists in (snapshot.split, snapshot.union):
            if self.state in lists:
                changed = [self.change(StateEntry(None, None, one)) for one in lists[self.state]]
                lists[self.state] = [one for one in changed if one is not None]
        if self.state in snapshot.broadcast:
            pairs = snapshot.broadcast[self.state].items()
            changed = [self.change(StateEntry(None, None, pair)) for pair in pairs]
            snapshot.broadcast[self.state] = dict(pair for pair in changed if pair is not None)


class PutKeyed(Edit):
    """Sets entries and adds timers.

    Args:
        groups: what there is to set, by key group.
    """

    def __init__(self, groups: dict[int, KeyGroupState]) -> None:
        self._groups = groups
        self.key_groups = groups.keys()

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Set the entries of a key group.

        Raises:
            CheckpointError: a state is there, of another kind.
        """
        new = self._groups.get(group)
        if new is None:
            return
        for name, meta in new.states.items():
            known = contents.states.setdefault(name, meta)
            _check_kind(name, known, meta)
            if known.type != meta.type:
                known.type = None
        for name, namespaces in new.tables.items():
            for namespace, entries in namespaces.items():
                contents.tables.setdefault(name, {}).setdefault(namespace, {}).update(entries)
        contents.timers |= dict.fromkeys(new.timers)


@dataclass(frozen=True)
class PutList(Edit):
    """Replaces a list without keys.

    Args:
        state: its name.
        values: the elements.
        union: whether every subtask gets all of them.
    """

    state: str
    values: list[Any]
    union: bool

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Give a subtask its share."""
        for states in _kinds(snapshot):
            states.pop(self.state, None)
        lists = snapshot.union if self.union else snapshot.split
        lists[self.state] = self.values[part::parts]


@dataclass(frozen=True)
class PutBroadcast(Edit):
    """Sets the entries of a broadcast state, which all subtasks have.

    Args:
        state: its name.
        entries: the entries.
    """

    state: str
    entries: dict[Hashable, Any]

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Set the entries in a subtask."""
        snapshot.broadcast[self.state] = dict(self.entries)


def _kinds(snapshot: OperatorSnapshot) -> tuple[dict[str, Any], ...]:
    return snapshot.split, snapshot.union, snapshot.broadcast


def _is_nothing(meta: StateMeta, value: Any) -> bool:
    """Tell whether a state would have no entry for a value."""
    return value is None or (meta.kind in {"list", "map", "sorted map"} and not value)


def _check_kind(name: str, before: StateMeta, after: StateMeta) -> None:
    if before.kind != after.kind:
        raise CheckpointError(
            f"the state {name!r} is a {before.kind} state: drop it first to write a {after.kind} "
            "state of that name"
        )
    if bool(before.stamped) != bool(after.stamped):
        has, gets = ("a", "no") if before.stamped else ("no", "a")
        raise CheckpointError(
            f"the state {name!r} has {has} time to live, and the descriptor has {gets} time to live"
        )
