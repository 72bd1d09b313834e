"""The source of consecutive numbers."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.builtin.number_sequence import NumberSequence
from pyflink_on_spark.datastream.connectors.base import Source

__all__ = ["NumberSequenceSource"]


class NumberSequenceSource(Source):
    """A bounded stream of all integers from one number to another; its type is LONG.

    The parallel subtasks read contiguous ranges, each in ascending order.

    Args:
        start: the first number.
        end: the last number, which is included.

    Raises:
        TypeError: if a number is not an int.
        ValueError: if the end is below the start, or a number does not fit into 64 bits.
    """

    def __init__(self, start: int, end: int) -> None:
        super().__init__(source=NumberSequence(start, end))


__getattr__ = missing_name(__name__)
