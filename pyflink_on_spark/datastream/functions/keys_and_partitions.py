"""Functions that decide to which parallel instance an element goes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pyflink_on_spark.datastream.functions.base import Function


class KeySelector(Function):
    """Takes the key out of an element.

    Example:
        >>> class FirstLetter(KeySelector):
        ...     def get_key(self, value):
        ...         return value[0]
        >>> keyed = env.from_collection(["ab", "b", "ac"]).key_by(FirstLetter())
        >>> list(keyed.reduce(lambda a, b: f"{a} {b}").execute_and_collect())
        ['ab', 'b', 'ab ac']
    """

    @abstractmethod
    def get_key(self, value):
        """Return the key of an element; the same one whenever it is asked."""


class NullByteKeySelector(KeySelector):
    """Gives all elements the same key, for windows over a whole stream."""

    def get_key(self, value):
        """Return 0."""
        return 0


class Partitioner(Function):
    """Picks the parallel instance for a key, in ``partition_custom``.

    Example:
        >>> class Remainder(Partitioner):
        ...     def partition(self, key, num_partitions):
        ...         return key % num_partitions
        >>> numbers = env.from_collection([1, 2, 3])
        >>> placed = numbers.partition_custom(Remainder(), lambda number: number)
        >>> sorted(placed.execute_and_collect())
        [1, 2, 3]
    """

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return the index of the instance that gets an element.

        Args:
            key: the element's key.
            num_partitions: how many instances the next operator has.
        """
