"""DECIMALs, which are whole numbers times a power of ten."""

from __future__ import annotations

import decimal
import re

from pyflink_on_spark._sql.types.logical import LogicalType

LONG_DIGITS = 18
"""How many digits a DECIMAL may have that Flink keeps in a long."""

_CONTEXT = decimal.Context(prec=80)
_SHORT = re.compile(r"[ \n\t]*([+-]?)(\d*)(?:\.(\d*))?", re.ASCII)
_EXPONENT = re.compile(r"[eE]([+-](?=.)|(?=[^+-]))(\d*)", re.ASCII)
_BLANK = " \n\t"


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
    """Return the number that a text means, or None if the text is no number."""
    try:
        value = decimal.Decimal(text.strip())
    except decimal.InvalidOperation:
        return None
    if not value:
        return 0
    if not value.is_finite() or value.adjusted() >= precision:
        return None
    scaled = value.scaleb(scale, _CONTEXT).to_integral_value(decimal.ROUND_HALF_UP, _CONTEXT)
    return bounded(int(scaled), precision)


def parse_short_decimal(text: str, scale: int, precision: int) -> int | None:
    """Return the number that CAST reads of a short text for a short DECIMAL, or None.

    Flink reads these with a parser of its own. Zeros in front count as digits, a rounded number may
    have a digit too many, and one wrong character after the digits does not matter.
    """
    match = _SHORT.match(text)
    assert match is not None, "the pattern matches an empty text"
    sign, whole, fraction = match.group(1), match.group(2), match.group(3)
    rest, exponent = text[match.end() :], 0
    if not (rest or whole or fraction is not None):
        return None
    found = _EXPONENT.match(rest)
    if found is not None:
        exponent = int(found.group(1) + (found.group(2) or "0"))
        rest = rest[found.end() :]
    if rest[1:].strip(_BLANK) or not rest[:1].isascii():
        return None
    digits = whole + (fraction or "")
    change = exponent - len(fraction or "") + scale
    if len(digits) + change > precision or change < -LONG_DIGITS:
        return None
    unscaled = rescale(int(digits or "0"), 0, change)
    return -unscaled if sign == "-" else unscaled


def decimal_text(unscaled: int, scale: int) -> str:
    """Write a number with all digits after the point."""
    if not scale:
        return str(unscaled)
    digits = f"{abs(unscaled):0{scale + 1}d}"
    return f"{'-' if unscaled < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"
