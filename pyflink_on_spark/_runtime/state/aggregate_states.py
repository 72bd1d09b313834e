"""States that keep one value for all that was added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.state.keyed_state import MergingState

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.table import StateTable


class ReducingState(MergingState):
    """Reduces what is added to the current key's value.

    Args:
        backend: knows the current key.
        table: where the values are.
        function: has ``reduce``.
    """

    __slots__ = ("_reduce",)
    kind = "reducing"

    def __init__(self, backend: KeyedStateBackend, table: StateTable, function: Any) -> None:
        super().__init__(backend, table)
        self._reduce = function.reduce

    @classmethod
    def arguments(cls, descriptor: Any) -> tuple[Any, ...]:
        """Return the function."""
        return (descriptor.get_reduce_function(),)

    def get(self) -> Any:
        """Return the value, or None."""
        return self._load()

    def add(self, value: Any) -> None:
        """Reduce the value and another one to the new value."""
        current = self._load()
        self._keep(value if current is None else self._reduce(current, value))

    def _merged(self, first: Any, second: Any) -> Any:
        return self._reduce(first, second)


class AggregatingState(MergingState):
    """Aggregates what is added in the current key's accumulator.

    Args:
        backend: knows the current key.
        table: where the accumulators are.
        function: has ``create_accumulator``, ``add``, ``get_result`` and ``merge``.
    """

    __slots__ = ("_function",)
    kind = "aggregating"

    def __init__(self, backend: KeyedStateBackend, table: StateTable, function: Any) -> None:
        super().__init__(backend, table)
        self._function = function

    @classmethod
    def arguments(cls, descriptor: Any) -> tuple[Any, ...]:
        """Return the function."""
        return (descriptor.get_agg_function(),)

    def get(self) -> Any:
        """Return the result for the accumulator; None if nothing was added."""
        accumulator = self._load()
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        """Add a value; None clears the state."""
        if value is None:
            self.clear()
            return
        accumulator = self._load()
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._keep(self._function.add(value, accumulator))

    def _merged(self, first: Any, second: Any) -> Any:
        return self._function.merge(first, second)
