"""DECIMALs, which are whole numbers times a power of ten."""

from __future__ import annotations

import decimal

from pyflink_on_spark._sql.types.logical import LogicalType

_CONTEXT = decimal.Context(prec=80)


def rescale(unscaled: int, before: int, after: int) -> int:
    """Return a number with another number of digits after the point, rounded half up."""
    if after >= before:
        return unscaled * int(10 ** (after - before))
    return divide_half_up(unscaled, 10 ** (before - after))


def divide_half_up(dividend: int, divisor: int) -> int:
    """Return a quotient, rounded to the nearest whole number, the half away from zero."""
    quotient, rest = divmod(abs(dividend), abs(divisor))
    if 2 * rest >= abs(divisor):
        quotient += 1
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def bounded(unscaled: int, precision: int) -> int | None:
    """Return a number, or None if it has more digits than there may be."""
    return unscaled if -(10**precision) < unscaled < 10**precision else None


def from_decimal(value: decimal.Decimal, kind: LogicalType) -> int | None:
    """Return the number that stands for a Decimal, or None if it has too many digits."""
    scale = kind.scale or 0
    scaled = value.scaleb(scale, _CONTEXT).to_integral_value(decimal.ROUND_HALF_UP, _CONTEXT)
    return bounded(int(scaled), kind.precision or 10)


def to_decimal(unscaled: int, scale: int) -> decimal.Decimal:
    """Return the Decimal that a number stands for, with all digits after the point."""
    return decimal.Decimal(unscaled).scaleb(-scale, _CONTEXT)


def parse_decimal(text: str, scale: int, precision: int) -> int | None:
    """Return the number that stands for what a text means, or None if there is none."""
    try:
        value = decimal.Decimal(text.strip())
    except decimal.InvalidOperation:
        return None
    if not value.is_finite():
        return None
    scaled = value.scaleb(scale, _CONTEXT).to_integral_value(decimal.ROUND_HALF_UP, _CONTEXT)
    return bounded(int(scaled), precision)


def decimal_text(unscaled: int, scale: int) -> str:
    """Write a number with all digits after the point."""
    if not scale:
        return str(unscaled)
    digits = f"{abs(unscaled):0{scale + 1}d}"
    return f"{'-' if unscaled < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"
