"""Numbers as Java writes them."""

from __future__ import annotations

import math
from struct import Struct
from typing import Any

from pyflink_on_spark._runtime.types.java_float_digits import java_digits

_FLOAT = Struct("f")
_DOUBLE_PRECISION, _DOUBLE_LOWEST = 53, -1074
_FLOAT_PRECISION, _FLOAT_LOWEST = 24, -149


def double_text(value: float) -> str:
    """Write a number as ``Double.toString`` of Java 17 does."""
    magnitude = abs(value)
    # Here repr is known to give Java's digits: no decimal of up to 17 digits lies halfway between
    # two numbers, and powers of two, where Java looks more closely, are written in full.
    if 1e-3 <= magnitude < 1e7:
        return repr(value)
    if 1e-300 < magnitude < 1e15 and math.frexp(value)[0] not in (0.5, -0.5):
        digits, exponent = _split(repr(magnitude))
        return _with_sign(value, _layout(digits, exponent))
    return _special_text(value) or _exact_text(value, _DOUBLE_PRECISION, _DOUBLE_LOWEST)


def float_text(value: float) -> str:
    """Write a number of 32 bits as ``Float.toString`` of Java 17 does.

    Args:
        value: a number that 32 bits can hold.
    """
    magnitude = abs(value)
    if 1e-3 <= magnitude < 4e6:
        text = _shortest_float(magnitude)
        return _with_sign(value, text if "." in text else _layout(*_split(text)))
    if 1e-30 < magnitude < 1 and math.frexp(value)[0] not in (0.5, -0.5):
        digits, exponent = _split(_shortest_float(magnitude))
        return _with_sign(value, _layout(digits, exponent))
    return _special_text(value) or _exact_text(value, _FLOAT_PRECISION, _FLOAT_LOWEST)


def _shortest_float(magnitude: float) -> str:
    for form in (".6g", ".7g", ".8g"):
        text = format(magnitude, form)
        if _FLOAT.unpack(_FLOAT.pack(float(text)))[0] == magnitude:
            return text
    return format(magnitude, ".9g")


def _special_text(value: float) -> str | None:
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _exact_text(value: float, precision: int, lowest: int) -> str:
    numerator, denominator = abs(value).as_integer_ratio()
    exponent = 1 - denominator.bit_length()
    top = numerator.bit_length() - 1 + exponent
    # Below the smallest normal number there are fewer bits.
    digits, decimal = java_digits(numerator, exponent, min(precision, top - lowest + 1))
    return _with_sign(value, _layout(digits, decimal))


def _with_sign(value: float, text: str) -> str:
    return "-" + text if value < 0 else text


def _split(text: str) -> tuple[str, int]:
    """Split Python's text of a positive number: its digits, and the exponent of ``0.digits``."""
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole) if whole != "0" else len(digits) - len(fraction)
    return digits.rstrip("0") or "0", leading + int(exponent or 0)


def _layout(digits: str, exponent: int) -> str:
    if 0 < exponent < 8:
        return f"{digits[:exponent].ljust(exponent, '0')}.{digits[exponent:] or '0'}"
    if -3 < exponent <= 0:
        return f"0.{'0' * -exponent}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"


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
