"""Where the entries of one keyed state are: a dict by key for each namespace."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

Place = tuple[Hashable, Any]
"""A namespace and a key."""


class StateTable:
    """The entries of one state of one operator.

    ``current`` is the dict of the namespace in use. The dict of the namespace None is always the
    same object, so that a loop may keep a reference. ``changed`` is the same object between two
    checkpoints: the places of the entries that changed, or None if changes are not tracked.

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
        self.changed: set[Place] | None = set() if track else None

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
                self.changed.add((namespace, key))
