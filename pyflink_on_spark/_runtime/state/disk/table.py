"""The entries of one keyed state on disk."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.disk.namespace import DiskNamespace
from pyflink_on_spark._runtime.state.table import Place, StateTable

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.disk.store import DiskStore

_PART = 2_000


class _Namespaces(dict[Hashable, Any]):
    """All namespaces of a table; a new one is one on disk, whatever is asked for."""

    def __init__(self, store: DiskStore) -> None:
        super().__init__({None: DiskNamespace(store)})
        self._store = store

    def __setitem__(self, namespace: Hashable, entries: Any) -> None:
        found = DiskNamespace(self._store)
        super().__setitem__(namespace, found)
        found.update(entries)

    def setdefault(self, namespace: Hashable, entries: Any = None) -> Any:
        """Return a namespace."""
        if namespace not in self:
            self[namespace] = entries or {}
        return self[namespace]


class DiskTable(StateTable):
    """A table whose namespaces are like dicts, but on disk. The namespaces' names are in memory.

    Args:
        kind: as a descriptor's ``_kind``, for example ``value``.
        track: whether to note which entries change.
        store: where the entries are.
    """

    __slots__ = ("_store",)

    def __init__(self, kind: str, track: bool, store: DiskStore) -> None:
        super().__init__(kind, track)
        self._store = store
        self.namespaces = _Namespaces(store)
        self.current = self.namespaces[None]

    def put_all(self, namespace: Hashable, entries: dict[Any, Any]) -> None:
        """Set entries of any namespace; this is not noted as a change."""
        self.namespaces.setdefault(namespace, {}).load(entries)  # type: ignore[attr-defined]

    def all_entries(self) -> Iterator[tuple[Hashable, dict[Any, Any]]]:
        """Yield namespaces and entries by key, some at a time."""
        for namespace, table in self.namespaces.items():
            part: dict[Any, Any] = {}
            for key, value in table.items():
                part[key] = value
                if len(part) == _PART:
                    yield namespace, part
                    part = {}
            yield namespace, part

    def size(self) -> int:
        """Return how many entries there are in memory; those on disk only are not counted."""
        return sum(table.cached for table in self.namespaces.values())  # type: ignore[attr-defined]

    def entries(self) -> Iterator[tuple[Hashable, Any, Any]]:
        """Yield namespace, key and value of each entry; entries may change meanwhile.

        Entries on disk are read in order, and do not take the place of others in memory.
        """
        for namespace, table in list(self.namespaces.items()):
            for key, value in table.items():
                yield namespace, key, value

    def places(self) -> Iterator[Place]:
        """Yield the place of each entry; entries may change meanwhile."""
        for namespace, table in list(self.namespaces.items()):
            for key in table:
                yield namespace, key
