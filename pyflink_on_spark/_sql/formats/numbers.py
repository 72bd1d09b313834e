"""How text formats write DECIMALs."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._sql.types.decimals import to_decimal


def number_text(scale: int) -> Callable[[int], str]:
    """Return what writes a DECIMAL without zeros at the end: 100 is ``1E+2``.

    Args:
        scale: how many digits it has after the point.
    """
    return lambda value: str(to_decimal(value, scale).normalize()) if value else "0"
