"""What all kinds of keyed state have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from pyflink_on_spark._runtime.state.declared import Coercion, fit_of

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.table import StateTable


class KeyedState:
    """A state of the current key, in the namespace that is in use.

    Args:
        backend: knows the current key.
        table: where the entries are.
    """

    __slots__ = ("_backend", "_fit", "_table")

    kind: ClassVar[str]
    """The name in checkpoints and in the descriptors of the kind."""

    def __init__(self, backend: KeyedStateBackend, table: StateTable) -> None:
        self._backend = backend
        self._table = table
        self._fit: Coercion | None = None

    @classmethod
    def arguments(cls, descriptor: Any) -> tuple[Any, ...]:
        """Return what the constructor takes of a descriptor, besides backend and table."""
        return ()

    def declare(self, name: str, type_info: Any, converted: bool) -> None:
        """Say of which type what is put in has to be; without this it can be of any."""
        self._fit = fit_of(name, type_info, converted)

    def set_current_namespace(self, namespace: Hashable) -> None:
        """Say in which namespace (a window, say) the state is used from now on."""
        self._table.use(namespace)

    def clear(self) -> None:
        """Remove the current key's entry."""
        table = self._table
        key = self._backend.key
        if key in table.current:
            del table.current[key]
            if table.changed is not None:
                table.changed[table.namespace].add(key)

    def put_whole(self, value: Any) -> None:
        """Set the current key's entry to a value as tools show and take it."""
        self._store(value if self._fit is None else self._fit(value))

    def _keep(self, value: Any) -> None:
        """Set the current key's entry to a value of the declared type; None removes the entry."""
        if self._fit is not None:
            value = self._fit(value)
        if value is None:
            self.clear()
        else:
            self._store(value)

    def _load(self) -> Any:
        """Return the current key's entry, or None."""
        return self._table.current.get(self._backend.key)

    def _store(self, entry: Any) -> None:
        """Set the current key's entry."""
        table = self._table
        key = self._backend.key
        table.current[key] = entry
        if table.changed is not None:
            table.changed[table.namespace].add(key)


class MergingState(KeyedState):
    """A state whose entries in several namespaces can be made into one."""

    __slots__ = ()

    def merge_namespaces(self, target: Hashable, sources: Iterable[Hashable]) -> None:
        """Add the current key's entries of some namespaces to that of another one.

        Args:
            target: the namespace that gets everything; it is in use afterwards.
            sources: the namespaces whose entries are removed.
        """
        found = []
        for source in sources:
            self._table.use(source)
            entry = self._load()
            if entry is not None:
                found.append(entry)
                self.clear()
        self._table.use(target)
        merged = self._load()
        for entry in found:
            merged = entry if merged is None else self._merged(merged, entry)
        if found:
            self._store(merged)

    def _merged(self, first: Any, second: Any) -> Any:
        """Return one entry for two."""
        raise NotImplementedError
