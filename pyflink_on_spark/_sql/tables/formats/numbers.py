"""How text formats write DECIMALs."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context

from pyflink_on_spark._sql.types.decimals import to_decimal

_DIGITS = Context(prec=38)
"""As many as a DECIMAL has; Python's usual context rounds to 28."""


def number_text(scale: int) -> Callable[[int], str]:
    """Return what writes a DECIMAL without zeros at the end: 100 is ``1E+2``.

    Args:
        scale: how many digits it has after the point.
    """
    return lambda value: str(to_decimal(value, scale).normalize(_DIGITS)) if value else "0"
