"""Dates and times of day."""

from __future__ import annotations

import calendar
import datetime
import time
from enum import Enum
from typing import Any

from pyflink_on_spark.common.typeinfo.information import TypeInformation

_MICROS = 10**6


class SqlTimeTypeInfo(TypeInformation):
    """Where the types of SQL's dates and times come from."""

    @staticmethod
    def DATE() -> DateTypeInfo:
        """A ``datetime.date``."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """A ``datetime.time``."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """A ``datetime.datetime``."""
        return TimestampTypeInfo()


class DateTypeInfo(TypeInformation):
    """A ``datetime.date``; internally days since 1970-01-01."""

    EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()

    def __init__(self) -> None:
        super().__init__()

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, d: datetime.date | None) -> int | None:
        return None if d is None else d.toordinal() - self.EPOCH_ORDINAL

    def from_internal_type(self, v: int | None) -> datetime.date | None:
        return None if v is None else datetime.date.fromordinal(v + self.EPOCH_ORDINAL)

    def __eq__(self, o: object) -> bool:
        return isinstance(o, DateTypeInfo)

    def __repr__(self) -> str:
        return "DateTypeInfo"


class TimeTypeInfo(TypeInformation):
    """A ``datetime.time``; internally microseconds since midnight, in UTC."""

    EPOCH_ORDINAL = calendar.timegm(time.localtime(0)) * _MICROS

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, t: datetime.time | None) -> int | None:
        if t is None:
            return None
        if t.tzinfo is None:
            offset = self.EPOCH_ORDINAL
        else:
            offset = (t.utcoffset() or datetime.timedelta()) // datetime.timedelta(microseconds=1)
        return ((t.hour * 60 + t.minute) * 60 + t.second) * _MICROS + t.microsecond - offset

    def from_internal_type(self, t: int | None) -> datetime.time | None:
        if t is None:
            return None
        seconds, micros = divmod(t + self.EPOCH_ORDINAL, _MICROS)
        minutes, seconds = divmod(seconds, 60)
        return datetime.time(*divmod(minutes, 60), seconds, micros)

    def __eq__(self, o: object) -> bool:
        return isinstance(o, TimeTypeInfo)

    def __repr__(self) -> str:
        return "TimeTypeInfo"


class TimestampTypeInfo(TypeInformation):
    """A ``datetime.datetime``; internally microseconds since 1970-01-01 in UTC."""

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, dt: datetime.datetime | None) -> int | None:
        if dt is None:
            return None
        if dt.tzinfo:
            seconds = calendar.timegm(dt.utctimetuple())
        else:
            seconds = int(time.mktime(dt.timetuple()))
        return seconds * _MICROS + dt.microsecond

    def from_internal_type(self, ts: int | None) -> datetime.datetime | None:
        if ts is None:
            return None
        seconds, micros = divmod(ts, _MICROS)
        return datetime.datetime.fromtimestamp(seconds).replace(microsecond=micros)

    def __eq__(self, o: object) -> bool:
        return isinstance(o, TimestampTypeInfo)

    def __repr__(self) -> str:
        return "TimestampTypeInfo"


class LocalTimeTypeInfo(TypeInformation):
    """A date, a time of day or both, without a zone.

    Args:
        time_type: which of them.
    """

    class TimeType(Enum):
        """The parts of a local time."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self._time_type = time_type

    def __eq__(self, other: Any) -> bool:
        return self.__class__ == other.__class__ and self._time_type == other._time_type

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"


def time_type_of(type_info: LocalTimeTypeInfo) -> LocalTimeTypeInfo.TimeType:
    """The kind of date or time that a type information has."""
    return type_info._time_type  # noqa: SLF001
