"""Dates, times and their patterns as SQL writes them, from and to numbers."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable
from functools import lru_cache
from zoneinfo import ZoneInfo

MICROS_PER_SECOND = 1_000_000
MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND
MICROS_PER_HOUR = 60 * MICROS_PER_MINUTE
MICROS_PER_DAY = 24 * MICROS_PER_HOUR
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
Field = Callable[[datetime.date, int], str]
_FINER = (("S", 1), ("s", MICROS_PER_SECOND), ("m", MICROS_PER_MINUTE), ("HkhKa", MICROS_PER_HOUR))
_GROUPS = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "h": "half",
           "m": "minute", "s": "second", "S": "fraction", "a": "noon"}  # fmt: skip
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - without a zone
_TO_THE_SECOND = 19
_PLAIN_LENGTHS = frozenset({_TO_THE_SECOND, 23, 26})
_DATE = re.compile(r"\s*(\d{1,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\s*")
_TIME = re.compile(r"\s*(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?\s*")
_TIMESTAMP = re.compile(r"\s*(\d{1,4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}:\d{1,2}.*?))?\s*")
_CAST_TIMESTAMP = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?)?", re.ASCII
)
_LOOSE_TIMESTAMP = re.compile(
    r"\s*(\d{1,4})-(\d{1,4})-(\d{1,4}) \s*(\d{1,9}):(\d{1,9}):(\d{1,9})", re.ASCII
)
_UTC = frozenset({"UTC", "Z", "GMT", "Etc/UTC"})
# Clocks are set only at whole quarters of an hour.
_QUARTER = 15 * MICROS_PER_MINUTE


@lru_cache(maxsize=256)
def _writers(pattern: str) -> tuple[Field | str, ...]:
    return tuple(_writer(token) for token in _TOKEN.finditer(pattern))


def _writer(token: re.Match[str]) -> Field | str:
    text = token[0]
    if token[1] is not None:
        return token[1].replace("''", "'") or "'"
    if token[2] is None:
        return text
    letter, width = token[2], len(text)
    if letter in "yu":
        return lambda date, time: (
            f"{date.year % 100:02d}" if width == 2 else f"{date.year:0{width}d}"
        )
    if letter == "M" and width > 2:
        return lambda date, time: _MONTHS[date.month - 1][: 3 if width == 3 else None]
    if letter == "E":
        return lambda date, time: _DAYS[date.weekday()][: 3 if width <= 3 else None]
    if letter == "a":
        return lambda date, time: "AM" if time < MICROS_PER_DAY // 2 else "PM"
    if letter == "S":
        return lambda date, time: f"{time % MICROS_PER_SECOND:06d}".ljust(9, "0")[:width]
    number = _NUMBERS.get(letter)
    if number is None:
        raise ValueError(f"Unknown pattern letter: {letter}")
    return lambda date, time: f"{number(date, time):0{width}d}"


_NUMBERS: dict[str, Callable[[datetime.date, int], int]] = {
    "M": lambda date, time: date.month,
    "d": lambda date, time: date.day,
    "D": lambda date, time: date.timetuple().tm_yday,
    "H": lambda date, time: time // MICROS_PER_HOUR,
    "k": lambda date, time: time // MICROS_PER_HOUR or 24,
    "h": lambda date, time: (time // MICROS_PER_HOUR + 11) % 12 + 1,
    "K": lambda date, time: time // MICROS_PER_HOUR % 12,
    "m": lambda date, time: time % MICROS_PER_HOUR // MICROS_PER_MINUTE,
    "s": lambda date, time: time % MICROS_PER_MINUTE // MICROS_PER_SECOND,
}


@lru_cache(maxsize=256)
def _unit(pattern: str) -> int:
    """Return the microseconds in which a pattern writes the same."""
    letters = {token[2] for token in _TOKEN.finditer(pattern) if token[2] is not None}
    return next((unit for each, unit in _FINER if letters & set(each)), MICROS_PER_DAY)


def format_timestamp(micros: int, pattern: str) -> str:
    """Write a timestamp."""
    unit = _unit(pattern)
    return _format_unit(micros // unit * unit, pattern)


@lru_cache(maxsize=4096)
def _format_unit(micros: int, pattern: str) -> str:
    days, time = divmod(micros, MICROS_PER_DAY)
    date = date_of(days)
    return "".join(
        [part if type(part) is str else part(date, time) for part in _writers(pattern)]  # type: ignore[operator]
    )


@lru_cache(maxsize=256)
def _reader(pattern: str) -> re.Pattern[str]:
    parts = []
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if token[1] is not None:
            parts.append(re.escape(token[1].replace("''", "'") or "'"))
        elif token[2] is None:
            parts.append(re.escape(text))
        else:
            parts.append(_group(token[2], len(text)))
    return re.compile("".join(parts))


def _group(letter: str, width: int) -> str:
    name = _GROUPS.get(letter)
    if name is None:
        raise ValueError(f"Unknown pattern letter: {letter}")
    if letter == "a":
        return rf"(?P<{name}>[AaPp][Mm])"
    if letter == "M" and width > 2:
        return r"(?P<word>[A-Za-z]+)"
    digits = f"{{1,{max(width, 2)}}}" if width < 3 else f"{{{width}}}"
    return rf"(?P<{name}>\d{digits})"


def parse_with(text: str, pattern: str) -> int | None:
    """Return the microseconds since 1970 that a text means, or None if it means none."""
    found = _reader(pattern).fullmatch(text.strip())
    if found is None:
        return None
    parts = found.groupdict()
    year = int(parts.get("year") or 1970)
    if len(parts.get("year") or "") == 2:
        year += 2000
    month = _month(parts)
    hour = int(parts.get("hour") or parts.get("half") or 0)
    if parts.get("noon"):
        hour = hour % 12 + (12 if parts["noon"].upper() == "PM" else 0)
    minute, second = int(parts.get("minute") or 0), int(parts.get("second") or 0)
    fraction = int((parts.get("fraction") or "").ljust(6, "0")[:6] or 0)
    try:
        days = datetime.date(year, month, int(parts.get("day") or 1)).toordinal() - _EPOCH_DAY
        datetime.time(hour, minute, second)
    except ValueError:
        return None
    seconds = (hour * 60 + minute) * 60 + second
    return days * MICROS_PER_DAY + seconds * MICROS_PER_SECOND + fraction


def _month(parts: dict[str, str | None]) -> int:
    word = parts.get("word")
    if word is None:
        return int(parts.get("month") or 1)
    short = [name[:3].lower() for name in _MONTHS]
    return short.index(word[:3].lower()) + 1 if word[:3].lower() in short else 0


def parse_date(text: str) -> int | None:
    """Return the days since 1970 that a text means, or None if it means none."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return datetime.date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None


def parse_time(text: str) -> int | None:
    """Return the microseconds of the day that a text means, or None if it means none."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    micros = int(((match.group(4) or "") + "000000")[:6])
    return ((hour * 60 + minute) * 60 + second) * MICROS_PER_SECOND + micros


def parse_timestamp(text: str) -> int | None:
    """Return the microseconds since 1970 that a text means, or None if it means none."""
    if len(text) in _PLAIN_LENGTHS and is_plain_timestamp(text):
        return _plain_timestamp(text)
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    day = parse_date(match.group(1))
    time = 0 if match.group(2) is None else parse_time(match.group(2))
    return None if day is None or time is None else day * MICROS_PER_DAY + time


def parse_cast_timestamp(text: str) -> int | None:
    """Return the microseconds since 1970 that CAST reads, or None if CAST refuses the text.

    A date is its midnight, 24:00:00 is the midnight after it, and the 30th of February is the last
    day of February.
    """
    if len(text) in _PLAIN_LENGTHS and text[10] == " " and is_plain_timestamp(text):
        found = _plain_timestamp(text)
        if found is not None:
            return found
    match = _CAST_TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    if not year or not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    day = min(day, calendar.monthrange(year, month)[1])
    midnight = (datetime.date(year, month, day).toordinal() - _EPOCH_DAY) * MICROS_PER_DAY
    fraction = int(((match.group(7) or "") + "000000")[:6])
    micros = ((hour * 60 + minute) * 60 + second) * MICROS_PER_SECOND + fraction
    fits = (hour < 24 or micros == MICROS_PER_DAY) and minute < 60 and second < 60
    return midnight + micros if fits else None


def parse_loose_timestamp(text: str) -> int | None:
    """Return the microseconds since 1970 that DATE_FORMAT reads of a text, or None if it does not.

    The end of the text does not matter, and numbers beyond their range count on: the 30th of
    February is in March.
    """
    match = _LOOSE_TIMESTAMP.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups())
    years, month = divmod(year * 12 + month - 1, 12)
    try:
        first = datetime.date(years, month + 1, 1).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    seconds = (hour * 60 + minute) * 60 + second
    return (first + day - 1) * MICROS_PER_DAY + seconds * MICROS_PER_SECOND


def _plain_timestamp(text: str) -> int | None:
    try:
        since = datetime.datetime.fromisoformat(text) - _EPOCH
    except (ValueError, TypeError):
        return None
    return since.days * MICROS_PER_DAY + since.seconds * MICROS_PER_SECOND + since.microseconds


def is_plain_timestamp(text: str) -> bool:
    """True for a text with the separators of a timestamp, without time zone or week."""
    if text[4] != "-" or text[7] != "-" or text[13] != ":" or text[16] != ":" or text[5] == "W":
        return False
    return text[10] in " T" and (len(text) == _TO_THE_SECOND or text[19] == ".")


def fraction_digits(text: str) -> int:
    """Return how many digits a text has after the point of its seconds."""
    return len(text.rpartition(".")[2].strip()) if "." in text else 0


def date_text(days: int) -> str:
    """Write a date."""
    return datetime.date.fromordinal(days + _EPOCH_DAY).isoformat()


def time_text(micros: int, digits: int) -> str:
    """Write a time of day with so many digits for the fraction of a second."""
    seconds, fraction = divmod(micros, MICROS_PER_SECOND)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    text = f"{hour:02d}:{minute:02d}:{second:02d}"
    if not digits:
        return text
    return f"{text}.{fraction:06d}"[: 9 + digits] + "0" * (digits - 6)


def timestamp_text(micros: int, digits: int, separator: str = " ") -> str:
    """Write a timestamp with so many digits for the fraction of a second."""
    days, time = divmod(micros, MICROS_PER_DAY)
    return f"{date_text(days)}{separator}{time_text(time, digits)}"


def date_of(days: int) -> datetime.date:
    """Return the date of a number of days."""
    return datetime.date.fromordinal(days + _EPOCH_DAY)


def cut_micros(micros: int, digits: int) -> int:
    """Drop the digits of a fraction of a second after some of them."""
    return micros if digits >= 6 else micros - micros % 10 ** (6 - digits)


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    """Return a time zone by its name."""
    return ZoneInfo(name)


@lru_cache(maxsize=100_000)
def _offset(quarter: int, zone: str) -> int:
    """Return by how much (microseconds) a zone is ahead of UTC in a quarter of an hour of UTC."""
    moment = datetime.datetime.fromtimestamp(quarter * 900, _zone(zone))
    offset = moment.utcoffset() or datetime.timedelta()
    return int(offset.total_seconds()) * MICROS_PER_SECOND


@lru_cache(maxsize=100_000)
def _local_offset(quarter: int, zone: str) -> int:
    """Return by how much (microseconds) a zone is ahead of UTC in a quarter of its own time."""
    local = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=quarter * 900)  # noqa: DTZ001
    offset = local.replace(tzinfo=_zone(zone)).utcoffset() or datetime.timedelta()
    return int(offset.total_seconds()) * MICROS_PER_SECOND


def to_local(micros: int, zone: str) -> int:
    """Return the local time of a point in time."""
    if zone in _UTC:
        return micros
    return micros + _offset(micros // _QUARTER, zone)


def to_instant(micros: int, zone: str) -> int:
    """Return the point in time of a local time; of two the first, in a gap after it."""
    if zone in _UTC:
        return micros
    return micros - _local_offset(micros // _QUARTER, zone)
