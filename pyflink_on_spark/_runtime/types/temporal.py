"""Dates, times of day and points in time."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyflink_on_spark._runtime.types.codec import Codec, Convert, ConvertColumn, column_of_type
from pyflink_on_spark.common.time import Instant

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone


def date(name: str) -> Codec:
    """Make the codec of dates."""

    def convert(value: Any) -> datetime.date:
        return datetime.date.fromordinal(value.toordinal())

    return _codec(name, datetime.date, convert, convert, datetime.date.isoformat)


def time(name: str) -> Codec:
    """Make the codec of SQL's times of day: milliseconds for functions, seconds when collected."""

    def convert(value: Any) -> datetime.time:
        micros = value.microsecond // 1000 * 1000
        return datetime.time(value.hour, value.minute, value.second, micros)

    def source(value: Any) -> datetime.time:
        if value.tzinfo is None:
            return convert(value)
        instant = datetime.datetime.combine(_EPOCH, value.replace(tzinfo=None))
        return convert((instant - (value.utcoffset() or datetime.timedelta())).time())

    def text(value: datetime.time) -> str:
        return value.isoformat("seconds")

    return _codec(name, datetime.time, convert, source, text, collect=_whole_seconds)


def _whole_seconds(value: datetime.time) -> datetime.time:
    return value.replace(microsecond=0)


def timestamp(name: str) -> Codec:
    """Make the codec of SQL's timestamps: milliseconds, without a zone."""

    def convert(value: Any) -> datetime.datetime:
        if type(value) is datetime.datetime and value.tzinfo is None:
            micros = value.microsecond
            return value if not micros else value.replace(microsecond=micros // 1000 * 1000)
        naive: datetime.datetime = value.replace(tzinfo=None)
        return naive.replace(microsecond=naive.microsecond // 1000 * 1000)

    def source(value: Any) -> datetime.datetime:
        if isinstance(value, datetime.time):
            raise AttributeError("'datetime.time' object has no attribute 'timetuple'")
        return convert(value if value.tzinfo is None else value.astimezone())

    def text(value: datetime.datetime) -> str:
        fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
        return f"{value.isoformat(' ', 'seconds')}.{fraction}"

    return _codec(name, datetime.datetime, convert, source, text)


def instant(name: str) -> Codec:
    """Make the codec of points in time: nanoseconds, but milliseconds from a collection."""

    def convert(value: Any) -> Instant:
        return value if type(value) is Instant else Instant(value.seconds, value.nanos)

    def source(value: Any) -> Instant:
        return Instant.of_epoch_milli(value.to_epoch_milli())

    def text(value: Instant) -> str:
        moment = _EPOCH + datetime.timedelta(seconds=value.seconds)
        return f"{moment.isoformat('T', 'seconds')}{_fraction(value.nanos)}Z"

    return replace(_codec(name, Instant, convert, source, text), null_in_tuple=True)


def local_date(name: str) -> Codec:
    """Make the codec of dates as the Table API has them."""

    def convert(value: Any) -> datetime.date:
        return datetime.date(value.year, value.month, value.day)

    return _codec(name, datetime.date, convert, convert, datetime.date.isoformat)


def local_time(name: str) -> Codec:
    """Make the codec of times of day as the Table API has them, with microseconds."""

    def convert(value: Any) -> datetime.time:
        return datetime.time(value.hour, value.minute, value.second, value.microsecond)

    return _codec(name, datetime.time, convert, convert, _local_time_text)


def local_date_time(name: str) -> Codec:
    """Make the codec of date and time as the Table API has them, with microseconds."""

    def convert(value: Any) -> datetime.datetime:
        return datetime.datetime.combine(value.date(), value.time())

    def text(value: datetime.datetime) -> str:
        return f"{value.date().isoformat()}T{_local_time_text(value.time())}"

    return _codec(name, datetime.datetime, convert, convert, text)


def _codec(
    name: str,
    kind: type,
    convert: Convert,
    source: Convert,
    text: Callable[[Any], str],
    collect: Convert | None = None,
) -> Codec:
    column: ConvertColumn = lambda values: list(map(convert, values))  # noqa: E731
    if kind is datetime.date:
        column = column_of_type(kind, convert)
    return Codec(name, convert, text, source, column=column, collect=collect, nullable=True)


def _fraction(nanos: int) -> str:
    """Write a fraction of a second with 0, 3, 6 or 9 digits."""
    text = f"{nanos:09d}"
    while text.endswith("000"):
        text = text[:-3]
    return f".{text}" if text else ""


def _local_time_text(value: datetime.time) -> str:
    if value.second == 0 and value.microsecond == 0:
        return value.isoformat("minutes")
    return value.replace(microsecond=0).isoformat("seconds") + _fraction(value.microsecond * 1000)
