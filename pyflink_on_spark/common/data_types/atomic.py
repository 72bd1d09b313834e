"""The data types that are not made of others."""

from __future__ import annotations

import calendar
import datetime
import time
from copy import copy

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
