"""Java's patterns for dates and times, for texts and from texts."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from functools import lru_cache

from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    MICROS_PER_MINUTE,
    MICROS_PER_SECOND,
    date_of,
)

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
Field = Callable[[datetime.date, int], str]


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


_FINER = (("S", 1), ("s", MICROS_PER_SECOND), ("m", MICROS_PER_MINUTE), ("HkhKa", MICROS_PER_HOUR))


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


_GROUPS = {"y": "year", "u": "year", "M": "month", "d": "day", "H": "hour", "h": "half",
           "m": "minute", "s": "second", "S": "fraction", "a": "noon"}  # fmt: skip


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
