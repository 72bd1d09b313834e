"""How text formats write times."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import time_text, timestamp_text


def moment_text(kind: LogicalType, iso: bool = False) -> Callable[[int], str]:
    """Return what writes a TIME, TIMESTAMP or TIMESTAMP_LTZ, without zeros at the end.

    Args:
        kind: which of them.
        iso: whether there is a T between date and time.
    """
    if kind.root is Root.TIME:
        return lambda value: _without_zeros(time_text(value, 6))
    separator = "T" if iso else " "
    zone = "Z" if kind.root is Root.TIMESTAMP_LTZ else ""
    return lambda value: _without_zeros(timestamp_text(value, 6, separator)) + zone


def _without_zeros(text: str) -> str:
    return text.rstrip("0").removesuffix(".")
