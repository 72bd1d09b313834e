"""The decimal digits that Java 17 gives a floating-point number.

Up to JDK 18 ``Double.toString`` is not quite the shortest text. It stops at the first digit where
what remains is less than half the distance to the next number. It takes that distance to be the
same on both sides, and half of it at powers of two. It wants two digits in the form with an
exponent. And its 64-bit integers overflow for a few numbers. This is that rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_LOG10_2 = 0.301029995663981


def java_digits(fraction: int, exponent: int, precision: int) -> tuple[str, int]:
    """Return the digits of ``fraction * 2**exponent``, and the decimal exponent of ``0.digits``.

    Args:
        fraction: the significand as a positive integer.
        exponent: the power of two it is multiplied with.
        precision: how many bits the number has, a leading one included.
    """
    zeros = (fraction & -fraction).bit_length() - 1
    fraction, exponent = fraction >> zeros, exponent + zeros
    bits = fraction.bit_length()
    magnitude = bits - 1 + exponent
    if exponent >= 0 and magnitude <= 62:
        return _integer_digits(fraction << exponent, magnitude, precision)
    return _fraction_digits(fraction, exponent, bits, precision)


def _integer_digits(value: int, magnitude: int, precision: int) -> tuple[str, int]:
    surplus = magnitude - precision - 1
    dropped = math.floor(surplus * _LOG10_2) if surplus > 1 else 0
    if dropped:
        power = 10**dropped
        value, rest = divmod(value, power)
        value += rest >= power >> 1
    digits = str(value)
    return digits.rstrip("0"), len(digits) + dropped


def _estimate(fraction: int, bits: int, magnitude: int) -> int:
    significand = fraction / (1 << (bits - 1))
    return math.floor((significand - 1.5) * 0.289529654 + 0.176091259 + magnitude * _LOG10_2)


def _fraction_digits(fraction: int, exponent: int, bits: int, precision: int) -> tuple[str, int]:
    magnitude = bits - 1 + exponent
    decimal = _estimate(fraction, bits, magnitude)
    scaled = _scale(fraction, exponent, bits, decimal, precision)

    digit, low, high = scaled.next_digit()
    digits = []
    if digit == 0 and not high:
        decimal -= 1
    else:
        digits.append(digit)
    if decimal < -3 or decimal >= 8:
        low = high = False
    while not low and not high:
        digit, low, high = scaled.next_digit()
        digits.append(digit)
    if high and (not low or scaled.rounds_up(digits[-1])):
        decimal += _round_up(digits)
    return "".join(map(str, digits)), decimal + 1


@dataclass
class _Scaled:
    """A number as ``rest / divisor``, and half the distance to the next number in the same measure.

    Args:
        width: the bits of the machine integers Java uses here, or None for integers of any size.
            They overflow now and then, and the digits are what comes of that.
    """

    rest: int
    divisor: int
    margin: int
    width: int | None

    def next_digit(self) -> tuple[int, bool, bool]:
        """Return a digit, and whether the number's range is left downwards and upwards with it."""
        digit, rest = divmod(self.rest, self.divisor)
        self.rest = rest = rest * 10
        self.margin = margin = self._wrap(self.margin * 10)
        tens = self.divisor * 10
        if self.width is None:
            return digit, rest < margin, rest + margin >= tens
        if margin <= 0:
            return digit, True, True
        return digit, rest < margin, self._wrap(rest + margin) > tens

    def rounds_up(self, last_digit: int) -> bool:
        difference = self.rest * 2 - self.divisor * 10
        return difference > 0 or (difference == 0 and last_digit & 1 == 1)

    def _wrap(self, value: int) -> int:
        if self.width is None:
            return value
        half = 1 << (self.width - 1)
        return ((value + half) & (2 * half - 1)) - half


def _scale(fraction: int, exponent: int, bits: int, decimal: int, precision: int) -> _Scaled:
    fives_up, fives_down = max(0, -decimal), max(0, decimal)
    tiny = max(0, -exponent)
    twos, divisor_twos = fives_up + tiny + exponent, fives_down + tiny
    margin_twos = twos + bits - 1 - precision
    common = min(twos, divisor_twos)
    twos, divisor_twos, margin_twos = twos - common, divisor_twos - common, margin_twos - common
    if bits == 1:
        margin_twos -= 1
    if margin_twos < 0:
        twos, divisor_twos, margin_twos = twos - margin_twos, divisor_twos - margin_twos, 0
    needed = max(
        bits + twos + _bits_of_power_of_five(fives_up),
        divisor_twos + 1 + _bits_of_power_of_five(fives_down + 1),
    )
    return _Scaled(
        (fraction * 5**fives_up) << twos,
        5**fives_down << divisor_twos,
        5**fives_up << margin_twos,
        32 if needed < 32 else 64 if needed < 64 else None,
    )


def _bits_of_power_of_five(power: int) -> int:
    return (5**power).bit_length() if 0 < power < 27 else 3 * power


def _round_up(digits: list[int]) -> int:
    """Add one to the last digit; return 1 when that makes the number a digit longer."""
    for index in range(len(digits) - 1, -1, -1):
        if digits[index] != 9:
            digits[index] += 1
            return 0
        digits[index] = 0
    digits[0] = 1
    return 1
