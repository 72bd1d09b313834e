"""Units of time: parts of dates and times, and what begins and ends a unit."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from pyflink_on_spark._sql.functions.builtin.numbers import add_months
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    MICROS_PER_MINUTE,
    MICROS_PER_SECOND,
    date_of,
)

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()


_MICROS = {
    "DAY": MICROS_PER_DAY,
    "HOUR": MICROS_PER_HOUR,
    "MINUTE": MICROS_PER_MINUTE,
    "SECOND": MICROS_PER_SECOND,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}


_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200,
           "MILLENNIUM": 12000}  # fmt: skip


_DATE_PARTS: dict[str, Callable[[datetime.date], int]] = {
    "YEAR": lambda date: date.year,
    "QUARTER": lambda date: (date.month + 2) // 3,
    "MONTH": lambda date: date.month,
    "WEEK": lambda date: date.isocalendar().week,
    "ISOYEAR": lambda date: date.isocalendar().year,
    "DAY": lambda date: date.day,
    "DOW": lambda date: date.isoweekday() % 7 + 1,
    "ISODOW": lambda date: date.isoweekday(),
    "DOY": lambda date: date.timetuple().tm_yday,
    "DECADE": lambda date: date.year // 10,
    "CENTURY": lambda date: (date.year + 99) // 100,
    "MILLENNIUM": lambda date: (date.year + 999) // 1000,
}


def part_of_date(days: int, unit: str) -> int:
    """Return a part of a date; 0 for parts of a time of day."""
    if unit == "EPOCH":
        return days * 86400
    part = _DATE_PARTS.get(unit)
    return 0 if part is None else part(date_of(days))


def part_of_time(micros: int, unit: str) -> int:
    """Return a part of a time of day."""
    if unit == "HOUR":
        return micros // MICROS_PER_HOUR
    if unit == "MINUTE":
        return micros % MICROS_PER_HOUR // MICROS_PER_MINUTE
    if unit == "SECOND":
        return micros % MICROS_PER_MINUTE // MICROS_PER_SECOND
    if unit == "MILLISECOND":
        return micros % MICROS_PER_SECOND // 1000
    if unit == "MICROSECOND":
        return micros % MICROS_PER_SECOND
    return micros % MICROS_PER_SECOND * 1000 if unit == "NANOSECOND" else 0


def part_of_timestamp(micros: int, unit: str) -> int:
    """Return a part of a timestamp."""
    if unit == "EPOCH":
        return micros // MICROS_PER_SECOND
    if (unit in _MICROS and unit != "DAY") or unit == "NANOSECOND":
        return part_of_time(micros % MICROS_PER_DAY, unit)
    return part_of_date(micros // MICROS_PER_DAY, unit)


def floor_to_unit(value: int, unit: str, root: str) -> int:
    """Return the beginning of the unit that a value is in.

    Args:
        value: days, or microseconds.
        unit: the unit.
        root: ``DATE``, ``TIME``, ``TIMESTAMP`` or ``TIMESTAMP_LTZ``.
    """
    if root == "DATE":
        return floor_date(value, unit)
    if unit in _MICROS:
        return value - value % _MICROS[unit]
    return floor_date(value // MICROS_PER_DAY, unit) * MICROS_PER_DAY


def floor_date(days: int, unit: str) -> int:
    """Return the first day of the unit that a day is in."""
    if unit == "WEEK":
        return days - date_of(days).isoweekday() % 7
    months = _MONTHS.get(unit)
    if months is None:
        return days
    date = date_of(days)
    number = date.year * 12 + date.month - 1
    if months > 12:
        number = (
            (date.year - 1) // (months // 12) * months + 12
            if months > 120
            else (date.year // 10 * 120)
        )
    else:
        number -= number % months
    return datetime.date(number // 12, number % 12 + 1, 1).toordinal() - _EPOCH_DAY


def ceiling_to_unit(value: int, unit: str, root: str) -> int:
    """Return the end of the unit that a value is in; a beginning is its own end."""
    floor = floor_to_unit(value, unit, root)
    if floor == value:
        return value
    if root != "DATE" and unit in _MICROS:
        return floor + _MICROS[unit]
    per_day = 1 if root == "DATE" else MICROS_PER_DAY
    days = floor // per_day
    if unit == "WEEK":
        return (days + 7) * per_day
    return add_months(days, _MONTHS[unit]) * per_day if unit in _MONTHS else value


def months_between(earlier: int, later: int) -> int:
    """Return how many whole months lie between two timestamps in microseconds."""
    sign = 1
    if later < earlier:
        earlier, later, sign = later, earlier, -1
    one, time_one = divmod(earlier, MICROS_PER_DAY)
    two, time_two = divmod(later, MICROS_PER_DAY)
    first, last = date_of(one), date_of(two)
    months = (last.year - first.year) * 12 + last.month - first.month
    if (add_months(one, months), time_one) > (two, time_two):
        months -= 1
    return months * sign


def units_between(unit: str, earlier: int, later: int) -> int:
    """Return how many whole units lie between two timestamps in microseconds."""
    if unit == "WEEK":
        return _quotient(later - earlier, 7 * MICROS_PER_DAY)
    if unit in _MICROS:
        return _quotient(later - earlier, _MICROS[unit])
    return _quotient(months_between(earlier, later), _MONTHS[unit])


def _quotient(dividend: int, divisor: int) -> int:
    quotient = abs(dividend) // divisor
    return quotient if dividend >= 0 else -quotient
