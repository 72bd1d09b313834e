"""Arithmetic where Python's own differs from Java's."""

from __future__ import annotations

import calendar
import datetime
import math

from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()


def divide_integers(dividend: int, divisor: int) -> int:
    """Divide, and drop the fraction."""
    if divisor == 0:
        raise ZeroDivisionError("/ by zero")
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def remainder(dividend: int, divisor: int) -> int:
    """Return the remainder of a division, with the sign of the dividend."""
    if divisor == 0:
        raise ZeroDivisionError("/ by zero")
    rest = abs(dividend) % abs(divisor)
    return -rest if dividend < 0 else rest


def divide_doubles(dividend: float, divisor: float) -> float:
    """Divide; by zero it is infinite, or not a number."""
    try:
        return dividend / divisor
    except ZeroDivisionError:
        if dividend == 0 or math.isnan(dividend):
            return math.nan
        return math.copysign(math.inf, dividend) * math.copysign(1, divisor)


def double_remainder(dividend: float, divisor: float) -> float:
    """Return the remainder of a division, with the sign of the dividend."""
    try:
        return math.fmod(dividend, divisor)
    except ValueError:
        return math.nan


def add_months(days: int, months: int) -> int:
    """Return a date some months later; at most the last day of that month."""
    date = datetime.date.fromordinal(days + _EPOCH_DAY)
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    day = min(date.day, calendar.monthrange(year, month + 1)[1])
    return datetime.date(year, month + 1, day).toordinal() - _EPOCH_DAY


def add_months_to_timestamp(micros: int, months: int) -> int:
    """Return a timestamp some months later."""
    days, time = divmod(micros, MICROS_PER_DAY)
    return add_months(days, months) * MICROS_PER_DAY + time
