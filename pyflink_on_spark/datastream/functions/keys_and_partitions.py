"""Functions that decide to which parallel instance an element goes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pyflink_on_spark.datastream.functions.base import Function


class KeySelector(Function):
    """Takes the key out of an element."""

    @abstractmethod
    def get_key(self, value):
        """Return the key of an element; the same one whenever it is asked."""


class NullByteKeySelector(KeySelector):
    """Gives all elements the same key, for windows over a whole stream."""

    def get_key(self, value):
        """Return 0."""
        return 0


class Partitioner(Function):
    """Picks the parallel instance for a key, in ``partition_custom``."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return the index of the instance that gets an element.

        Args:
            key: the element's key.
            num_partitions: how many instances the next operator has.
        """
