"""The data types of lengths of time."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from enum import Enum
from typing import Any

from pyflink_on_spark.common.data_types.atomic import AtomicType, _ConvertedType


class Resolution:
    """A unit of time with a number of digits.

    Args:
        unit: a member of ``IntervalUnit``.
        precision: how many digits; -1 if the unit has no choice.
    """

    class IntervalUnit(Enum):
        """The units of time."""

        SECOND = 0
        MINUTE = 1
        HOUR = 2
        DAY = 3
        MONTH = 4
        YEAR = 5

    def __init__(self, unit, precision=-1):
        self._unit = unit
        self._precision = precision

    @property
    def unit(self):
        """The unit."""
        return self._unit

    @property
    def precision(self):
        """The number of digits; -1 if the unit has no choice."""
        return self._precision

    def __str__(self):
        return f"{self._unit}({self._precision})"


class YearMonthIntervalType(AtomicType):
    """Numbers of months.

    Args:
        resolution: the units, a constant of ``YearMonthResolution``.
        precision: how many digits the years have, from 1 to 4.
        nullable: whether None is a value.
    """

    class YearMonthResolution:
        """The units that an interval of months can be written in."""

        YEAR = 1
        MONTH = 2
        YEAR_TO_MONTH = 3

    DEFAULT_PRECISION = 2

    def __init__(self, resolution, precision=DEFAULT_PRECISION, nullable=True):
        units = self.YearMonthResolution
        assert resolution in (units.YEAR, units.MONTH, units.YEAR_TO_MONTH), (
            "resolution should be a constant of YearMonthResolution"
        )
        assert resolution != units.MONTH or precision == self.DEFAULT_PRECISION, (
            "an interval of months has no digits of years"
        )
        assert 1 <= precision <= 4, "precision must be from 1 to 4"
        self._resolution = resolution
        self._precision = precision
        super().__init__(nullable)

    @property
    def resolution(self):
        """The units."""
        return self._resolution

    @property
    def precision(self):
        """The number of digits of the years."""
        return self._precision


class DayTimeIntervalType(_ConvertedType):
    """Lengths of time, as ``timedelta``.

    Args:
        resolution: the units.
        day_precision: how many digits the days have, from 1 to 6.
        fractional_precision: how many digits a fraction of a second has, from 0 to 9.
        nullable: whether None is a value.
    """

    class DayTimeResolution(Enum):
        """The units that an interval of days or less can be written in."""

        DAY = 1
        DAY_TO_HOUR = 2
        DAY_TO_MINUTE = 3
        DAY_TO_SECOND = 4
        HOUR = 5
        HOUR_TO_MINUTE = 6
        HOUR_TO_SECOND = 7
        MINUTE = 8
        MINUTE_TO_SECOND = 9
        SECOND = 10

    DEFAULT_DAY_PRECISION = 2
    DEFAULT_FRACTIONAL_PRECISION = 6

    def __init__(
        self,
        resolution,
        day_precision=DEFAULT_DAY_PRECISION,
        fractional_precision=DEFAULT_FRACTIONAL_PRECISION,
        nullable=True,
    ):
        assert isinstance(resolution, self.DayTimeResolution), (
            "resolution should be a DayTimeResolution"
        )
        has_days = resolution.name.startswith("DAY")
        has_seconds = resolution.name.endswith("SECOND")
        assert (
            has_days or resolution.name == "SECOND" or (day_precision == self.DEFAULT_DAY_PRECISION)
        ), "the interval has no digits of days"
        assert has_seconds or fractional_precision == self.DEFAULT_FRACTIONAL_PRECISION, (
            "the interval has no fraction of a second"
        )
        assert 1 <= day_precision <= 6, "day_precision must be from 1 to 6"
        assert 0 <= fractional_precision <= 9, "fractional_precision must be from 0 to 9"
        self._resolution = resolution
        self._day_precision = day_precision
        self._fractional_precision = fractional_precision
        super().__init__(nullable)

    @property
    def resolution(self) -> DayTimeIntervalType.DayTimeResolution:
        """The units."""
        return self._resolution

    @property
    def day_precision(self) -> int:
        """The number of digits of the days."""
        return self._day_precision

    @property
    def fractional_precision(self) -> int:
        """The number of digits of a second's fraction."""
        return self._fractional_precision

    def to_sql_type(self, timedelta):
        """Return the microseconds of a timedelta."""
        return None if timedelta is None else timedelta // datetime.timedelta(microseconds=1)

    def from_sql_type(self, ts):
        """Return the timedelta of so many microseconds."""
        return None if ts is None else datetime.timedelta(microseconds=ts)


Interval = YearMonthIntervalType | DayTimeIntervalType

_Unit = Resolution.IntervalUnit
_Months = YearMonthIntervalType.YearMonthResolution
_Days = DayTimeIntervalType.DayTimeResolution
_DAYS = DayTimeIntervalType.DEFAULT_DAY_PRECISION


def _months(resolution: int) -> Callable[[Any, Any], Interval]:
    return lambda precision, _: YearMonthIntervalType(resolution, precision)


def _days(resolution: object) -> Callable[[Any, Any], Interval]:
    return lambda precision, _: DayTimeIntervalType(resolution, precision)


def _no_digits(make: Callable[..., Interval], resolution: object) -> Callable[[Any, Any], Any]:
    return lambda _, __: make(resolution)


def _fraction(resolution: object) -> Callable[[Any, Any], Interval]:
    return lambda _, precision: DayTimeIntervalType(resolution, _DAYS, precision)


_MADE: dict[object, Callable[[Any, Any], Interval]] = {
    (_Unit.YEAR, None): _months(_Months.YEAR),
    (_Unit.MONTH, None): _no_digits(YearMonthIntervalType, _Months.MONTH),
    (_Unit.YEAR, _Unit.MONTH): _no_digits(YearMonthIntervalType, _Months.YEAR_TO_MONTH),
    (_Unit.DAY, None): _days(_Days.DAY),
    (_Unit.DAY, _Unit.HOUR): _days(_Days.DAY_TO_HOUR),
    (_Unit.DAY, _Unit.MINUTE): _days(_Days.DAY_TO_MINUTE),
    (_Unit.DAY, _Unit.SECOND): lambda days, fraction: DayTimeIntervalType(
        _Days.DAY_TO_SECOND, days, fraction
    ),
    (_Unit.HOUR, None): _no_digits(DayTimeIntervalType, _Days.HOUR),
    (_Unit.HOUR, _Unit.MINUTE): _no_digits(DayTimeIntervalType, _Days.HOUR_TO_MINUTE),
    (_Unit.HOUR, _Unit.SECOND): _fraction(_Days.HOUR_TO_SECOND),
    (_Unit.MINUTE, None): _no_digits(DayTimeIntervalType, _Days.MINUTE),
    (_Unit.MINUTE, _Unit.SECOND): _fraction(_Days.MINUTE_TO_SECOND),
    (_Unit.SECOND, None): lambda fraction, _: DayTimeIntervalType(_Days.SECOND, _DAYS, fraction),
}


def interval(upper: Resolution, lower: Resolution | None) -> Interval:
    """Return the type of intervals from one unit down to another.

    Raises:
        KeyError: there is no such interval.
    """
    precision = -1 if lower is None else lower.precision
    return _MADE[upper.unit, None if lower is None else lower.unit](upper.precision, precision)
