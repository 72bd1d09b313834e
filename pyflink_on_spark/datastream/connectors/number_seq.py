"""The source of consecutive numbers."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.builtin import NumberSequence
from pyflink_on_spark.datastream.connectors.base import Source

__all__ = ["NumberSequenceSource"]


class NumberSequenceSource(Source):
    """A bounded source of all integers between two numbers, of type LONG.

    Each subtask reads a contiguous range in ascending order.

    Args:
        start: the first number.
        end: the last number.

    Raises:
        TypeError: a number is not an int.
        ValueError: the end is less than the start, or a number does not fit into 64 bits.
    """

    def __init__(self, start: int, end: int) -> None:
        super().__init__(source=NumberSequence(start, end))


__getattr__ = missing_name(__name__)
