"""Types without parts: numbers, texts, times, intervals, raw and user-defined types."""

from __future__ import annotations

import calendar
import datetime
import pickle
import time
from collections.abc import Callable
from copy import copy
from enum import Enum
from typing import Any, NoReturn

from pyflink_on_spark._compat.unsupported import Gap, unsupported

_MICROS = 1_000_000

# How far the time zone of the process was from UTC in 1970, in microseconds.
_EPOCH_OFFSET = calendar.timegm(time.localtime(0)) * _MICROS


def _bridged_to(self, conversion_cls):
    """Name the Java class that holds the values."""


class DataType:
    """The type of a column's values.

    Args:
        nullable: whether None is one of them.
    """

    def __init__(self, nullable=True):
        self._nullable = nullable

    def __repr__(self):
        arguments = [*self._arguments(), str(self._nullable).lower()]
        return f"{type(self).__name__}({', '.join(map(str, arguments))})"

    def __str__(self, *args, **kwargs):
        return self.type_name()

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.__dict__ == other.__dict__

    def __ne__(self, other):
        return not self == other

    def not_null(self):
        """Return the same type without None."""
        return self._with_nullable(False)

    def nullable(self):
        """Return the same type with None."""
        return self._with_nullable(True)

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the kind of type."""
        return cls.__name__[:-4].upper()

    bridged_to = unsupported(
        _bridged_to,
        kind=Gap.NEVER,
        reason="a conversion class is a class of Java",
        instead="Leave it out: Python functions always receive Python objects.",
    )

    def need_conversion(self) -> bool:
        """True if values are converted between Python and SQL."""
        return False

    def to_sql_type(self, obj):
        """Return the form that a Python object has in PyFlink's files."""
        return obj

    def from_sql_type(self, obj):
        """Return the Python object for a value in the form of PyFlink's files."""
        return obj

    def _with_nullable(self, nullable: bool) -> DataType:
        changed = copy(self)
        changed._nullable = nullable
        return changed

    def _arguments(self) -> tuple[object, ...]:
        return ()


class AtomicType(DataType):
    """A type that is not made of others."""


class NullType(AtomicType):
    """Nothing but None."""

    def __init__(self):
        super().__init__()


class NumericType(AtomicType):
    """Any kind of number."""


class IntegralType(NumericType):
    """Whole numbers."""


class FractionalType(NumericType):
    """Numbers with a fraction."""


class _SizedType(AtomicType):
    def __init__(self, length=1, nullable=True):
        super().__init__(nullable)
        self.length = length

    def _arguments(self) -> tuple[object, ...]:
        return (self.length,)


class CharType(_SizedType):
    """Texts of one length, in code points."""


class VarCharType(_SizedType):
    """Texts up to a length, in code points."""


class BinaryType(_SizedType):
    """Byte strings of one length."""


class VarBinaryType(_SizedType):
    """Byte strings up to a length."""


class BooleanType(AtomicType):
    """True and False."""


class TinyIntType(IntegralType):
    """Whole numbers of 8 bits."""


class SmallIntType(IntegralType):
    """Whole numbers of 16 bits."""


class IntType(IntegralType):
    """Whole numbers of 32 bits."""


class BigIntType(IntegralType):
    """Whole numbers of 64 bits."""


class FloatType(FractionalType):
    """Floating point numbers of 32 bits."""


class DoubleType(FractionalType):
    """Floating point numbers of 64 bits."""


class DecimalType(FractionalType):
    """Decimal numbers.

    Args:
        precision: how many digits, from 1 to 38.
        scale: how many of them follow the decimal point.
        nullable: whether None is a value.
    """

    def __init__(self, precision=10, scale=0, nullable=True):
        super().__init__(nullable)
        assert 1 <= precision <= 38, "precision must be from 1 to 38"
        assert 0 <= scale <= precision, "scale must be from 0 to the precision"
        self.precision = precision
        self.scale = scale
        self.has_precision_info = True

    def _arguments(self) -> tuple[object, ...]:
        return self.precision, self.scale


class _ConvertedType(AtomicType):
    def need_conversion(self):
        """True: values are converted between Python and SQL."""
        return True


class DateType(_ConvertedType):
    """Days."""

    EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()

    def __init__(self, nullable=True):
        super().__init__(nullable)

    def to_sql_type(self, d):
        """Return the days since 1970 of a date."""
        return None if d is None else d.toordinal() - self.EPOCH_ORDINAL

    def from_sql_type(self, v):
        """Return the date so many days after the first of 1970."""
        return None if v is None else datetime.date.fromordinal(v + self.EPOCH_ORDINAL)


class _FractionOfSecondType(_ConvertedType):
    def __init__(self, precision, nullable=True):
        super().__init__(nullable)
        assert 0 <= precision <= 9, "precision must be from 0 to 9"
        self.precision = precision

    def _arguments(self) -> tuple[object, ...]:
        return (self.precision,)


class TimeType(_FractionOfSecondType):
    """Times of day, with a number of digits for the fraction of a second."""

    EPOCH_ORDINAL = _EPOCH_OFFSET

    def __init__(self, precision=0, nullable=True):
        super().__init__(precision, nullable)

    def to_sql_type(self, t):
        """Return the microseconds of the day of a time, in UTC."""
        if t is None:
            return None
        seconds = t.hour * 3600 + t.minute * 60 + t.second
        offset = self.EPOCH_ORDINAL
        if t.tzinfo is not None:
            offset = _micros(t.utcoffset() or datetime.timedelta())
        return seconds * _MICROS + t.microsecond - offset

    def from_sql_type(self, t):
        """Return the time of so many microseconds of a day in UTC."""
        if t is None:
            return None
        seconds, micros = divmod(t + self.EPOCH_ORDINAL, _MICROS)
        return datetime.time(seconds // 3600, seconds // 60 % 60, seconds % 60, micros)


class TimestampType(_FractionOfSecondType):
    """Days with times of day, in no time zone."""

    def __init__(self, precision=6, nullable=True):
        super().__init__(precision, nullable)

    def to_sql_type(self, dt):
        """Return the microseconds since 1970 of a datetime in the process's time zone."""
        return None if dt is None else _since_epoch(dt)

    def from_sql_type(self, ts):
        """Return the datetime in the process's time zone so many microseconds after 1970."""
        return None if ts is None else _after_epoch(ts)


class LocalZonedTimestampType(_FractionOfSecondType):
    """Points in time, shown in the local time zone."""

    EPOCH_ORDINAL = _EPOCH_OFFSET

    def __init__(self, precision=6, nullable=True):
        super().__init__(precision, nullable)

    def to_sql_type(self, dt):
        """Return the microseconds since 1970 of a datetime, as the local clock shows them."""
        return None if dt is None else _since_epoch(dt) + self.EPOCH_ORDINAL

    def from_sql_type(self, ts):
        """Return the datetime that the local clock shows so many microseconds after 1970."""
        return None if ts is None else _after_epoch(ts - self.EPOCH_ORDINAL)


class ZonedTimestampType(_FractionOfSecondType):
    """Points in time, each with a time zone."""

    def __init__(self, precision=6, nullable=True):
        super().__init__(precision, nullable)

    def to_sql_type(self, dt):
        """Return the microseconds since 1970 in the datetime's zone, and its offset in seconds."""
        if dt is None:
            return None
        offset = _micros((dt if dt.tzinfo else dt.astimezone()).utcoffset())
        return _since_epoch(dt) + offset, offset // _MICROS

    def from_sql_type(self, zoned_ts):
        """Return the datetime for microseconds since 1970 in a zone, and its offset in seconds."""
        if zoned_ts is None:
            return None
        micros, offset = zoned_ts
        zone = datetime.timezone(datetime.timedelta(seconds=offset))
        return _after_epoch(micros - offset * _MICROS, zone)


def _micros(delta: datetime.timedelta) -> int:
    return delta // datetime.timedelta(microseconds=1)


def _since_epoch(moment: datetime.datetime) -> int:
    if moment.tzinfo:
        seconds = calendar.timegm(moment.utctimetuple())
    else:
        seconds = int(time.mktime(moment.timetuple()))
    return seconds * _MICROS + moment.microsecond


def _after_epoch(micros: int, zone: datetime.tzinfo | None = None) -> datetime.datetime:
    seconds, fraction = divmod(micros, _MICROS)
    return datetime.datetime.fromtimestamp(seconds, zone).replace(microsecond=fraction)


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


class _ViewType(DataType):
    def to_sql_type(self, obj) -> NoReturn:
        """Refuse: a view has no value in SQL."""
        raise _only_in_accumulators(self)

    def from_sql_type(self, obj) -> NoReturn:
        """Refuse: a view has no value in SQL."""
        raise _only_in_accumulators(self)


class ListViewType(_ViewType):
    """A ListView in an accumulator.

    Args:
        element_type: the elements' type.
    """

    def __init__(self, element_type):
        expect_type(element_type, "element_type")
        super().__init__(False)
        self._element_type = element_type

    def __repr__(self):
        return f"ListViewType({self._element_type!r})"


class MapViewType(_ViewType):
    """A MapView in an accumulator.

    Args:
        key_type: the keys' type.
        value_type: the values' type.
    """

    def __init__(self, key_type, value_type):
        expect_type(key_type, "key_type")
        expect_type(value_type, "value_type")
        super().__init__(False)
        self._key_type = key_type
        self._value_type = value_type

    def __repr__(self):
        return f"MapViewType({self._key_type!r}, {self._value_type!r})"


def _only_in_accumulators(view: DataType) -> Exception:
    name = type(view).__name__
    return Exception(
        f"{name} can only be used in accumulator type declaration of AggregateFunction."
    )


class RawType(DataType):
    """Any Python objects, pickled."""

    def from_sql_type(self, obj):
        """Return the object that was pickled."""
        return pickle.loads(obj)


class UserDefinedType(DataType):
    """Values of a user's class, which SQL keeps as values of another type.

    A subclass says which type, and how objects become its values. The class of the objects has an
    instance of the subclass in ``__UDT__``. Functions and results get SQL's values.
    """

    def __eq__(self, other):
        return type(self) is type(other)

    __hash__ = DataType.__hash__

    @classmethod
    def type_name(cls):
        """Return the name of the class in small letters."""
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls):
        """Return the type that SQL keeps the values in; a subclass says it."""
        raise NotImplementedError("UDT must implement sql_type().")

    @classmethod
    def module(cls):
        """Return the module of the class; a subclass says it."""
        raise NotImplementedError("UDT must implement module().")

    @classmethod
    def java_udt(cls):
        """Return the name of Java's class; empty if there is none."""
        return ""

    def need_conversion(self):
        """True: values are converted between Python and SQL."""
        return True

    def to_sql_type(self, obj):
        """Return the value that SQL keeps for an object."""
        return None if obj is None else self.sql_type().to_sql_type(self.serialize(obj))

    def from_sql_type(self, obj):
        """Return the object for a value that SQL keeps."""
        value = self.sql_type().from_sql_type(obj)
        return None if value is None else self.deserialize(value)

    def serialize(self, obj):
        """Return a value of the SQL type; a subclass does it."""
        raise NotImplementedError("UDT must implement serialize().")

    def deserialize(self, datum):
        """Return the object for a value of the SQL type; a subclass does it."""
        raise NotImplementedError("UDT must implement deserialize().")


def expect_type(value: object, name: str) -> None:
    """Raise AssertionError if a value is no data type."""
    assert isinstance(value, DataType), f"{name} {value} should be an instance of {DataType}"
