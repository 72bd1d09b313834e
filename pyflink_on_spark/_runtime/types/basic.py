"""Codecs of numbers and texts."""

from __future__ import annotations

import datetime
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pyflink_on_spark._runtime.types.codec import (
    Codec,
    Convert,
    ConvertColumn,
    column_of_type,
    double_text,
    float_text,
    unfit,
)
from pyflink_on_spark.common.time import Instant

_INT = {int}
_FLOAT = {float}
_LONG_RANGE = range(-(2**63), 2**63)
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone


def _as_int(value: Any) -> int:
    """Cut a number to a whole one, as C extensions do: strings are no numbers here."""
    kind = type(value)
    if issubclass(kind, (str, bytes, bytearray)) or not hasattr(kind, "__int__"):
        raise TypeError("an integer is required")
    return int(value)


def integer(name: str, code: str) -> Codec:
    """Make the codec of a signed integer.

    Args:
        name: the type's text.
        code: the letter of an ``array`` of such integers.
    """
    bits = array(code).itemsize * 8
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def convert(value: object) -> int:
        if type(value) is not int:
            value = _as_int(value)
        if low <= value <= high:
            return int(value)
        raise OverflowError(f"it has to lie between {low} and {high}")

    def convert_column(values: Sequence[Any]) -> Sequence[object]:
        if set(map(type, values)) == _INT:
            array(code, values)  # raises OverflowError
            return values
        return list(map(convert, values))

    def source(value: object) -> int:
        # Flink reads a collection through a 64-bit integer and keeps its low bits.
        if type(value) is not int or value not in _LONG_RANGE:
            raise unfit(value, name)
        return ((value - low) & ((1 << bits) - 1)) + low

    return Codec(name, convert, str, source, column=convert_column, ints=(low, high))


def big_integer() -> Codec:
    """Make the codec of integers of any size."""

    def source(value: object) -> int:
        if type(value) is not int:
            raise TypeError("only an int becomes a BigInteger")
        return value

    column = column_of_type(int, _as_int)
    return Codec("BigInteger", _as_int, str, source, column=column, nullable=True)


def boolean() -> Codec:
    """Make the codec of booleans: any number from 0 to 255 is one."""

    def convert(value: object) -> bool:
        if type(value) is bool:
            return value
        number = _as_int(value)
        if 0 <= number <= 255:
            return bool(number)
        raise OverflowError("as a Boolean it has to lie between 0 and 255")

    def source(value: object) -> bool:
        if type(value) is not bool:
            raise unfit(value, "Boolean")
        return value

    return Codec("Boolean", convert, _boolean_text, source, column=column_of_type(bool, convert))


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


def double() -> Codec:
    """Make the codec of floating-point numbers of 64 bits."""

    def convert(value: Any) -> float:
        return value if type(value) is float else array("d", (value,))[0]

    def convert_column(values: Sequence[Any]) -> Sequence[object]:
        return values if set(map(type, values)) == _FLOAT else array("d", values).tolist()

    def source(value: object) -> float:
        if type(value) is not float:
            raise unfit(value, "Double")
        return value

    return Codec("Double", convert, double_text, source, column=convert_column)


def single() -> Codec:
    """Make the codec of floating-point numbers of 32 bits."""

    def convert(value: Any) -> float:
        rounded: float = array("f", (value,))[0]
        return rounded

    def convert_column(values: Sequence[Any]) -> Sequence[object]:
        rounded = array("f", values).tolist()
        return values if rounded == list(values) and set(map(type, values)) == _FLOAT else rounded

    def source(value: object) -> float:
        if type(value) is not float:
            raise unfit(value, "Float")
        return convert(value)

    def collect(value: float) -> float:
        return float(float_text(value))

    return Codec("Float", convert, float_text, source, column=convert_column, collect=collect)


def decimal() -> Codec:
    """Make the codec of decimals, which keep their scale."""

    def convert(value: object) -> Decimal:
        number = Decimal(str(value))
        if not number.is_finite():
            raise ValueError("it is not a finite number")
        return number or abs(number)  # Java has no negative zero

    def source(value: object) -> Decimal:
        if not isinstance(value, Decimal):
            raise unfit(value, "BigDecimal")
        return convert(value)

    column: ConvertColumn = lambda values: list(map(convert, values))  # noqa: E731
    return Codec(
        "BigDecimal",
        convert,
        str,
        source,
        column=column,
        collect=_as_written,
        collect_alone=_in_full,
        nullable=True,
    )


def _in_full(value: Decimal) -> Decimal:
    """Read the decimal from its text without an exponent first, as PyFlink does in between."""
    return _as_written(Decimal(format(value, "f")))


def _as_written(value: Decimal) -> Decimal:
    """Read the decimal from its text with exponents in steps of three, as PyFlink collects it."""
    return Decimal(value.to_eng_string())


def _as_str(value: Any) -> str:
    if type(value) is str:
        return value
    encoded: bytes = value.encode("utf-8")
    return encoded.decode("utf-8")


def string() -> Codec:
    """Make the codec of text."""

    def source(value: object) -> str:
        if type(value) is str:
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if type(value) is float:
            return double_text(value)
        if type(value) in (int, Decimal):
            return str(value)
        raise TypeError("only str, numbers and booleans become a String")

    return Codec(
        "String",
        _as_str,
        _same,
        source,
        column=column_of_type(str, _as_str),
        nullable=True,
    )


def character() -> Codec:
    """Make the codec of single characters."""

    def convert(value: object) -> str:
        text = _as_str(value)
        if len(text) != 1:
            raise ValueError("it has to be exactly one character")
        return text

    def convert_column(values: Any) -> Any:
        return list(map(convert, values))

    def source(value: object) -> str:
        if type(value) is not str:
            raise TypeError("only a str becomes a Char")
        return convert(value)

    return Codec("Char", convert, _same, source, column=convert_column)


def _same(value: str) -> str:
    return value


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
