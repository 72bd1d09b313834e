"""Whole numbers where PyFlink's C extensions take one: fractions are cut off, text is no number."""

from __future__ import annotations

from typing import Any

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def whole(value: Any) -> int:
    """Return a number as an int.

    Raises:
        TypeError: it is no number.
    """
    kind = type(value)
    if kind is int:
        return value  # type: ignore[no-any-return]
    if issubclass(kind, str | bytes | bytearray) or not hasattr(kind, "__int__"):
        raise TypeError(f"an integer is required, got {kind.__name__} {value!r}")
    return int(value)


def time_in_ms(value: Any) -> int:
    """Return a time (ms) as an int of 64 bits.

    Raises:
        TypeError: it is no number.
        OverflowError: it is too large.
    """
    time = whole(value)
    if _LOWEST <= time <= _HIGHEST:
        return time
    raise OverflowError(f"the time {time} ms is too large for 64 bits")
