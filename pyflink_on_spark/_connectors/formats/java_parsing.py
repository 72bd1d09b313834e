"""Parses numbers, dates and times as Java does."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from struct import Struct

from pyflink_on_spark.common.time import Instant

_BLANK = "".join(map(chr, range(0x21)))
_WHOLE = re.compile(r"[+-]?\d+")
_FLOATING = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII
)
_HEXADECIMAL = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?", re.ASCII
)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?", re.ASCII)
_OFFSET = re.compile(r"(.+?)(Z|[+-]\d\d:\d\d)", re.ASCII)
_FLOAT = Struct("f")
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone

Parse = Callable[[str], object]


def trimmed(text: str) -> str:
    """Return a text without leading and trailing blanks and control characters."""
    return text.strip(_BLANK)


def whole_number(text: str) -> int:
    """Parse an integer of any size.

    Raises:
        ValueError: the text is not an integer.
    """
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def bounded_whole_number(bits: int) -> Callable[[str], int]:
    """Return a function that parses a signed integer of some bits, with blanks around it."""
    high = 1 << (bits - 1)

    def parse(text: str) -> int:
        number = int(text) if text.isdecimal() else whole_number(trimmed(text))
        if -high <= number < high:
            return number
        raise ValueError(f"{text} is out of range: it has to lie between {-high} and {high - 1}")

    return parse


def double(text: str) -> float:
    """Parse a number of 64 bits, with blanks around it.

    Raises:
        ValueError: the text is not a number.
    """
    if text[-1:].isdecimal() and text.isascii() and "_" not in text:
        with contextlib.suppress(ValueError):
            return float(text)  # here Python and Java agree
    text = trimmed(text)
    if _HEXADECIMAL.fullmatch(text) is not None:
        return _from_hexadecimal(text.rstrip("fFdD"))
    if _FLOATING.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a number")
    return float(text.rstrip("fFdD") if text[-1] in "fFdD" else text)


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf" if text.startswith("-") else "inf")


def single(text: str) -> float:
    """Parse a number of 32 bits, with blanks around it.

    Raises:
        ValueError: the text is not a number.
    """
    return to_single(double(text))


def to_single(value: float) -> float:
    """Return the nearest number of 32 bits."""
    try:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return rounded


def decimal(text: str) -> Decimal:
    """Parse a decimal number of any size.

    Raises:
        ValueError: the text is not a decimal number.
    """
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a decimal number")
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is not a decimal number") from error


def is_true(text: str) -> bool:
    """True for the text "true", in upper or lower case."""
    return text.lower() == "true"


def iso_date(text: str) -> datetime.date:
    """Parse a date such as 2020-01-31.

    Raises:
        ValueError: the text is not such a date.
    """
    if _DATE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a date such as 2020-01-31")
    return datetime.date.fromisoformat(text)


def iso_time(text: str) -> tuple[datetime.timedelta, int]:
    """Parse a time of day such as 12:34, 12:34:56, 12:34:56.789 or 24:00:00.

    Returns:
        The time since midnight in whole seconds, and the additional nanoseconds.

    Raises:
        ValueError: the text is not such a time.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time such as 12:34:56")
    hour, minute, second = (int(part or 0) for part in match.group(1, 2, 3))
    nanos = int((match.group(4) or "").ljust(9, "0"))
    last = hour == 24 and minute == second == nanos == 0
    if not last and (hour > 23 or minute > 59 or second > 59):
        raise ValueError(f"{text!r} is not a time of day")
    return datetime.timedelta(hours=hour, minutes=minute, seconds=second), nanos


def iso_timestamp(text: str, between: str = "T") -> tuple[datetime.datetime, int]:
    """Parse a date and a time of day.

    Args:
        text: the text.
        between: the character between date and time.

    Returns:
        Date and time in whole seconds, and the additional nanoseconds.

    Raises:
        ValueError: the text is not such a timestamp.
    """
    day, separator, time = text.partition(between)
    if not separator:
        raise ValueError(f"{text!r} is not a timestamp such as 2020-01-31{between}12:34:56")
    since_midnight, nanos = iso_time(time)
    midnight = datetime.datetime.combine(iso_date(day), datetime.time())
    try:
        return midnight + since_midnight, nanos
    except OverflowError as error:
        raise ValueError(f"{text!r} is too late for Python") from error


def with_nanos(moment: datetime.datetime, nanos: int) -> datetime.datetime:
    """Return a time with a fraction of a second, rounded down to microseconds."""
    return moment.replace(microsecond=nanos // 1000)


def time_of_day(since_midnight: datetime.timedelta, nanos: int = 0) -> datetime.time:
    """Return the time of day; 24:00 is midnight."""
    return with_nanos(_EPOCH + since_midnight, nanos).time()


def iso_instant(text: str) -> Instant:
    """Parse a point in time such as 2020-01-31T12:34:56.789Z.

    Raises:
        ValueError: the text is not such a point in time.
    """
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a point in time such as 2020-01-31T12:34:56Z")
    moment, nanos = iso_timestamp(match.group(1))
    seconds = (moment - _EPOCH) // datetime.timedelta(seconds=1)
    return Instant(seconds - _offset_seconds(match.group(2)), nanos)


def _offset_seconds(text: str) -> int:
    if text == "Z":
        return 0
    seconds = int(text[1:3]) * 3600 + int(text[4:6]) * 60
    return -seconds if text[0] == "-" else seconds
