"""Asks the user which subtask gets an element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.operators.select_key import SelectKeyOperator
from pyflink_on_spark._runtime.user_code.user_function import UserFunction


class PartitionOperator(SelectKeyOperator):
    """Makes of each element a pair of the index of the subtask that gets it, and itself.

    Args:
        partitioner: the user's Partitioner.
        selector: the user's KeySelector, which finds what the partitioner gets.
        receivers: how many subtasks there are. The job's graph knows, and says so with ``among``.
    """

    line = ""

    def __init__(
        self, partitioner: UserFunction, selector: UserFunction, receivers: int = 1
    ) -> None:
        super().__init__(selector)
        self._partitioner, self._receivers = partitioner, receivers
        self._loaded_partitioner: Any = None

    def among(self, receivers: int) -> PartitionOperator:
        """Return the same for some number of receiving subtasks."""
        return PartitionOperator(self._partitioner, self.function, receivers)

    def open(self, context: OperatorContext) -> None:
        """Load and open both functions."""
        self._loaded_partitioner = self._partitioner.load()
        self._open_function(self._loaded_partitioner, context)
        super().open(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        select, partition = self.call, self._loaded_partitioner.partition
        count = self._receivers
        for value in elements:
            key = select(value)
            index = partition(key, count)
            if type(index) is not int or not 0 <= index < count:
                raise ValueError(
                    f"the partitioner returned {index!r} for the key {key!r}; "
                    f"expected an int from 0 to {count - 1}"
                )
            yield index, value

    def close(self) -> None:
        """Close both functions."""
        if self._loaded_partitioner is not None:
            self._close_function(self._loaded_partitioner)
        super().close()
