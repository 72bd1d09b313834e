"""Texts as Java reads them: numbers, dates and times."""

from __future__ import annotations

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
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?", re.ASCII)
_OFFSET = re.compile(r"(.+?)(Z|[+-]\d\d:\d\d)", re.ASCII)
_FLOAT = Struct("f")
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone

Parse = Callable[[str], object]


def trimmed(text: str) -> str:
    """Return a text without the blanks and control characters around it."""
    return text.strip(_BLANK)


def whole_number(text: str) -> int:
    """Read an integer of any size.

    Raises:
        ValueError: it is none.
    """
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def bounded_whole_number(bits: int) -> Callable[[str], int]:
    """Return a function that reads a signed integer of some bits, with blanks around it."""
    high = 1 << (bits - 1)

    def parse(text: str) -> int:
        number = int(text) if text.isdecimal() else whole_number(trimmed(text))
        if -high <= number < high:
            return number
        raise ValueError(f"{text} is out of range: it has to lie between {-high} and {high - 1}")

    return parse


def double(text: str) -> float:
    """Read a number of 64 bits, with blanks around it.

    Raises:
        ValueError: it is none.
    """
    if text[-1:].isdecimal() and text.isascii() and "_" not in text:
        return float(text)  # here Python takes what Java takes
    text = trimmed(text)
    if _FLOATING.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no number")
    return float(text.rstrip("fFdD") if text[-1] in "fFdD" else text)


def single(text: str) -> float:
    """Read a number of 32 bits, with blanks around it.

    Raises:
        ValueError: it is none.
    """
    return to_single(double(text))


def to_single(value: float) -> float:
    """Return the number of 32 bits that is nearest to a number."""
    try:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return rounded


def decimal(text: str) -> Decimal:
    """Read a decimal number of any size.

    Raises:
        ValueError: it is none.
    """
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no decimal number")
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is no decimal number") from error


def is_true(text: str) -> bool:
    """Whether a text says so: everything else than "true" is False."""
    return text.lower() == "true"


def iso_date(text: str) -> datetime.date:
    """Read a date such as 2020-01-31.

    Raises:
        ValueError: it is none.
    """
    if _DATE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no date such as 2020-01-31")
    return datetime.date.fromisoformat(text)


def iso_time(text: str) -> tuple[datetime.timedelta, int]:
    """Read a time of day such as 12:34, 12:34:56 or 12:34:56.789; 24:00:00 is one.

    Returns:
        The time since midnight in whole seconds, and the nanoseconds behind them.

    Raises:
        ValueError: it is none.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no time such as 12:34:56")
    hour, minute, second = (int(part or 0) for part in match.group(1, 2, 3))
    nanos = int((match.group(4) or "").ljust(9, "0"))
    last = hour == 24 and minute == second == nanos == 0
    if not last and (hour > 23 or minute > 59 or second > 59):
        raise ValueError(f"{text!r} is no time of a day")
    return datetime.timedelta(hours=hour, minutes=minute, seconds=second), nanos


def iso_timestamp(text: str, between: str = "T") -> tuple[datetime.datetime, int]:
    """Read a date and a time of day.

    Args:
        text: what to read.
        between: the character between them.

    Returns:
        Date and time in whole seconds, and the nanoseconds behind them.

    Raises:
        ValueError: it is none.
    """
    day, separator, time = text.partition(between)
    if not separator:
        raise ValueError(f"{text!r} is no timestamp such as 2020-01-31{between}12:34:56")
    since_midnight, nanos = iso_time(time)
    midnight = datetime.datetime.combine(iso_date(day), datetime.time())
    try:
        return midnight + since_midnight, nanos
    except OverflowError as error:
        raise ValueError(f"{text!r} is too late for Python") from error


def with_nanos(moment: datetime.datetime, nanos: int) -> datetime.datetime:
    """Return a moment with a fraction of a second, in microseconds."""
    return moment.replace(microsecond=nanos // 1000)


def time_of_day(since_midnight: datetime.timedelta, nanos: int = 0) -> datetime.time:
    """Return the time of day, of which midnight may be at the day's end."""
    return with_nanos(_EPOCH + since_midnight, nanos).time()


def iso_instant(text: str) -> Instant:
    """Read a point in time such as 2020-01-31T12:34:56.789Z.

    Raises:
        ValueError: it is none.
    """
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no point in time such as 2020-01-31T12:34:56Z")
    moment, nanos = iso_timestamp(match.group(1))
    seconds = (moment - _EPOCH) // datetime.timedelta(seconds=1)
    return Instant(seconds - _offset_seconds(match.group(2)), nanos)


def _offset_seconds(text: str) -> int:
    if text == "Z":
        return 0
    seconds = int(text[1:3]) * 3600 + int(text[4:6]) * 60
    return -seconds if text[0] == "-" else seconds
