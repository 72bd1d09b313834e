"""What casts do to a value; NULL never gets here."""

from __future__ import annotations

import datetime
import math

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.types.decimals import (
    LONG_DIGITS,
    bounded,
    decimal_text,
    parse_decimal,
    parse_short_decimal,
    rescale,
)
from pyflink_on_spark._sql.types.temporal import (
    cut_micros,
    parse_cast_timestamp,
    parse_date,
    parse_time,
)

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a local time


_TRUE = frozenset({"t", "true", "y", "yes", "1"})


_FALSE = frozenset({"f", "false", "n", "no", "0"})


def cut_to_bits(number: int, bits: int) -> int:
    """Cut a whole number to the last bits, as Java does."""
    half = 1 << (bits - 1)
    return (number + half & 2 * half - 1) - half


def decimal_to_integer(unscaled: int, scale: int, bits: int) -> int:
    """Drop the digits after the point."""
    whole = abs(unscaled) // 10**scale
    return cut_to_bits(-whole if unscaled < 0 else whole, bits)


def double_to_integer(number: float, bits: int) -> int:
    """Drop what is after the point; beyond the range it is the nearest value."""
    if number != number:  # noqa: PLR0124 - not a number
        return 0
    wide = max(bits, 32)
    half = 1 << (wide - 1)
    if number >= half:
        return cut_to_bits(half - 1, bits)
    return cut_to_bits(-half if number <= -half else int(number), bits)


def text_to_integer(text: str, bits: int, lenient: bool) -> int | None:
    """Read a whole number; digits after a point are dropped."""
    stripped = text.strip()
    try:
        number = int(stripped) if stripped.isascii() and "_" not in stripped else None
    except ValueError:
        found = parse_decimal(stripped.partition(".")[0] or "0", 0, 38) if "." in stripped else None
        number = found if found is not None and _is_plain(stripped) else None
    half = 1 << (bits - 1)
    if number is None or not -half <= number < half:
        _refuse(text, "a whole number", lenient)
        return None
    return number


def _is_plain(text: str) -> bool:
    return text.isascii() and text.lstrip("+-").replace(".", "", 1).isdigit()


def decimal_to_double(unscaled: int, scale: int, single: bool) -> float:
    """Return the nearest number."""
    number = float(decimal_text(unscaled, scale))
    return to_single(number) if single else number


def text_to_double(text: str, single: bool, lenient: bool) -> float | None:
    """Read a number."""
    try:
        if "_" in text:
            raise ValueError(text)
        number = float(text)
    except ValueError:
        _refuse(text, "a number", lenient)
        return None
    return to_single(number) if single else number


def integer_to_decimal(number: int, scale: int, precision: int) -> int | None:
    """Return the same number, or None if there are too few digits for it."""
    return bounded(int(number) * 10**scale, precision)


def decimal_to_decimal(unscaled: int, before: int, after: int, precision: int) -> int | None:
    """Return the number rounded half up, or None if there are too few digits for it."""
    return bounded(rescale(unscaled, before, after), precision)


def double_to_decimal(number: float, scale: int, precision: int) -> int | None:
    """Return the number rounded half up, or None if there are too few digits for it."""
    if not math.isfinite(number):
        return None
    return parse_decimal(repr(number), scale, precision)


def text_to_decimal(text: str, scale: int, precision: int, lenient: bool) -> int | None:
    """Read a number."""
    if precision <= LONG_DIGITS and len(text.encode()) <= LONG_DIGITS:
        found = parse_short_decimal(text, scale, precision)
    else:
        found = parse_decimal(text, scale, precision)
    if found is None:
        _refuse(text, f"a DECIMAL({precision}, {scale})", lenient)
    return found


def text_to_boolean(text: str, lenient: bool) -> bool | None:
    """Read TRUE or FALSE."""
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    _refuse(text, "a BOOLEAN", lenient)
    return None


def text_to_date(text: str, lenient: bool) -> int | None:
    """Read a date; what follows a space after the date does not matter."""
    end = text.find(" ")
    found = parse_date(text[:end] if end > 0 else text)
    if found is None:
        _refuse(text, "a DATE", lenient)
        return None
    return found


def text_to_time(text: str, digits: int, lenient: bool) -> int | None:
    """Read a time of day."""
    found = parse_time(text)
    if found is None:
        _refuse(text, "a TIME", lenient)
        return None
    return cut_micros(found, digits)


def text_to_timestamp(text: str, digits: int, lenient: bool) -> int | None:
    """Read a timestamp."""
    found = parse_cast_timestamp(text)
    if found is None:
        _refuse(text, "a TIMESTAMP", lenient)
        return None
    return cut_micros(found, digits)


def _refuse(text: str, wanted: str, lenient: bool) -> None:
    if not lenient:
        raise ValueError(f"{text!r} is not {wanted}")
