"""The entries of one keyed state: a dict by key for each namespace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Any

Place = tuple[Hashable, Any]
"""A namespace and a key."""


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

    def all_entries(self) -> Iterator[tuple[Hashable, dict[Any, Any]]]:
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

    def put(self, namespace: Hashable, key: Any, value: Any) -> None:
        """Set an entry of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {})[key] = value

    def put_all(self, namespace: Hashable, entries: dict[Any, Any]) -> None:
        """Set entries of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {}).update(entries)

    def remove(self, namespace: Hashable, key: Any) -> None:
        """Remove an entry of any namespace, if it is there; this is not noted as a change."""
        table = self.namespaces.get(namespace)
        if table is None:
            return
        table.pop(key, None)
        if not table and namespace != self.namespace and namespace is not None:
            del self.namespaces[namespace]

    def drop_key(self, key: Any) -> None:
        """Remove a key's entries in all namespaces."""
        for namespace in [space for space, table in self.namespaces.items() if key in table]:
            self.remove(namespace, key)
            if self.changed is not None:
                self.changed[namespace].add(key)
