"""A state that keeps one value, of a type of its own, for all that was added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.state.keyed_state import KeyedState

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.table import StateTable


class FoldingState(KeyedState):
    """Folds what is added into the current key's value.

    Args:
        backend: knows the current key.
        table: where the values are.
        function: has ``fold``.
        initial: what each key begins with a copy of.
    """

    __slots__ = ("_fold", "_initial")
    kind = "folding"

    def __init__(
        self, backend: KeyedStateBackend, table: StateTable, function: Any, initial: Any
    ) -> None:
        super().__init__(backend, table)
        self._fold = function.fold
        self._initial = serialize(initial)

    @classmethod
    def arguments(cls, descriptor: Any) -> tuple[Any, ...]:
        """Return the function and the initial value."""
        return descriptor.get_fold_function(), descriptor.get_initial_value()

    def get(self) -> Any:
        """Return the value; None if nothing was added."""
        return self._load()

    def add(self, value: Any) -> None:
        """Fold one more value in."""
        current = self._load()
        if current is None:
            current = deserialize(self._initial)
        folded = self._fold(current, value)
        if folded is None:
            self.clear()
        else:
            self._store(folded)
