"""Names the bucket of an element: a folder under the base path."""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import groupby
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._runtime.types.converters import bounded_repr

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.user_code import UserFunction


_OFFSET = re.compile(r"(UTC|GMT|UT)?([+-])(\d|\d\d(?:(?::\d\d){0,2}|(?:\d\d){1,2}))")
_NO_OFFSET = frozenset({"Z", "UTC", "GMT", "UT"})
_UNKNOWN_TO_JAVA = frozenset({"EST", "MST", "HST", "localtime", "Factory"})


def parse_time_zone(zone_id: str) -> tuple[str, tzinfo]:
    """Return the name of a time zone in Java's form, and the time zone.

    Args:
        zone_id: a region such as ``Europe/Paris``, an offset such as ``+02:00``, or ``GMT-08:00``.

    Raises:
        ValueError: there is no such time zone.
    """
    if zone_id in _NO_OFFSET:
        return zone_id, UTC
    offset = _OFFSET.fullmatch(zone_id)
    if offset is not None:
        return _fixed_offset(zone_id, offset)
    if zone_id not in _UNKNOWN_TO_JAVA:
        with contextlib.suppress(ZoneInfoNotFoundError, ValueError, OSError):
            return zone_id, ZoneInfo(zone_id)
    raise ValueError(f"unknown time zone: {zone_id!r}")


def offset_text(moment: datetime, separator: str, *, seconds: bool = False) -> str:
    """Return the offset from UTC: ``+hh``, the separator, ``mm``, and the seconds if asked for."""
    distance = moment.utcoffset() or timedelta()
    sign = "-" if distance < timedelta() else "+"
    minutes, rest = divmod(abs(distance).seconds, 60)
    text = f"{sign}{minutes // 60:02d}{separator}{minutes % 60:02d}"
    return f"{text}{separator}{rest:02d}" if seconds and rest else text


def _fixed_offset(zone_id: str, offset: re.Match[str]) -> tuple[str, tzinfo]:
    prefix, sign, digits = offset.groups(default="")
    digits = digits.replace(":", "")
    hours, minutes, seconds = (int(digits[i : i + 2] or 0) for i in (0, 2, 4))
    distance = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if minutes > 59 or seconds > 59 or distance > timedelta(hours=18):
        raise ValueError(f"not an offset between -18:00 and +18:00: {zone_id!r}")
    zone = timezone(-distance if sign == "-" else distance)
    if not distance:
        return prefix or "Z", zone
    return prefix + offset_text(datetime(2000, 1, 1, tzinfo=zone), ":", seconds=True), zone


Field = Callable[[datetime], str]

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August"]
_MONTHS += ["September", "October", "November", "December"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_TOKEN = re.compile(
    r"'((?:[^']|'')*)'|([A-Za-z]+)|([\[\]])|([{}#'])|([^A-Za-z'\[\]{}#]+)", re.DOTALL
)
_JAVA_LETTERS = frozenset("GuyYQqMLwWdDFgEecaBhKkHmsSAnNVvzOXxZp")


class DatePattern:
    """Formats a time by a pattern, in English.

    Args:
        pattern: letters of Java's ``DateTimeFormatter``; text in single quotes is literal.
        zone_id: the text for ``VV`` in the pattern.

    Raises:
        ValueError: the pattern is not valid in Java.
        UnsupportedFlinkFeature: the pattern has a letter that is not supported here.
    """

    def __init__(self, pattern: str, zone_id: str = "") -> None:
        self._pattern = pattern
        self._zone_id = zone_id
        self._fields = _parse(pattern, zone_id)

    def format(self, moment: datetime) -> str:
        """Return the text for a time with a time zone."""
        return "".join([field(moment) for field in self._fields])

    def __reduce__(self) -> tuple[type[DatePattern], tuple[str, str]]:
        return DatePattern, (self._pattern, self._zone_id)


def _parse(pattern: str, zone_id: str) -> list[Field]:
    fields: list[Field] = []
    position = optional = 0
    while position < len(pattern):
        token = _TOKEN.match(pattern, position)
        assert token is not None  # the alternatives leave no character out
        quoted, letters, bracket, reserved, plain = token.groups()
        optional += {"[": 1, "]": -1}.get(bracket, 0)
        if reserved or optional < 0:
            raise ValueError(f"the date pattern {pattern!r} has a stray {token.group()!r}")
        if letters:
            fields += [
                _field(letter, len(list(run)), pattern, zone_id) for letter, run in groupby(letters)
            ]
        elif quoted is not None:
            fields.append(_text(quoted.replace("''", "'") or "'"))
        elif plain:
            fields.append(_text(plain))
        position = token.end()
    return fields


def _text(text: str) -> Field:
    return lambda moment: text


def _field(letter: str, count: int, pattern: str, zone_id: str) -> Field:
    if letter not in _JAVA_LETTERS:
        raise ValueError(f"the date pattern {pattern!r} has an unknown letter {letter!r}")
    if letter == "V" and count == 2:
        return _text(zone_id)
    numeric = _NUMBERS.get(letter)
    if numeric is not None and count <= numeric[0]:
        return _number(numeric[1], count)
    worded = _WORDS.get(letter)
    if worded is not None and count <= worded[0]:
        word = worded[1]
        return lambda moment: word(moment, count)
    if numeric is None and worded is None:
        raise_unsupported(
            f"the letter {letter!r} in the date pattern {pattern!r}",
            kind=Gap.NOT_YET,
            reason="only " + "".join(sorted({*_NUMBERS, *_WORDS})) + " and VV are known",
            instead="Write the bucket's name with these letters.",
        )
    raise ValueError(f"Too many pattern letters: {letter} (in the date pattern {pattern!r})")


def _number(value: Callable[[datetime], int], width: int) -> Field:
    return lambda moment: f"{value(moment):0{width}d}"


def _millis_of_day(moment: datetime) -> int:
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    return seconds * 1000 + moment.microsecond // 1000


def _year(moment: datetime, count: int) -> str:
    return f"{moment.year % 100:02d}" if count == 2 else f"{moment.year:0{count}d}"


def _month(moment: datetime, count: int) -> str:
    name = _MONTHS[moment.month - 1]
    return _by_width(count, f"{moment.month:0{count}d}", name[:3], name)


def _weekday(moment: datetime, count: int) -> str:
    name = _DAYS[moment.weekday()]
    return _by_width(count, name[:3], name[:3], name)


def _quarter(moment: datetime, count: int) -> str:
    quarter = (moment.month + 2) // 3
    long = ("1st", "2nd", "3rd", "4th")[quarter - 1] + " quarter"
    texts = [f"{quarter:0{count}d}", f"Q{quarter}", long, str(quarter)]
    return texts[max(count - 2, 0)]


def _by_width(count: int, number: str, short: str, long: str) -> str:
    """Choose a form by the number of letters; five of them ask for a single letter."""
    return (number, number, short, long, long[:1])[count - 1]


def _fraction(moment: datetime, count: int) -> str:
    return f"{moment.microsecond:06d}000"[:count]


def _offset_or_z(moment: datetime, count: int) -> str:
    return _offset(moment, count) if moment.utcoffset() else "Z"


def _offset(moment: datetime, count: int) -> str:
    text = offset_text(moment, ":" if count in (3, 5) else "", seconds=count > 3)
    return text.removesuffix("00") if count == 1 else text


def _offset_rfc(moment: datetime, count: int) -> str:
    if count < 4:
        return offset_text(moment, "")
    if count == 5:
        return _offset_or_z(moment, 5)
    return "GMT" + (offset_text(moment, ":", seconds=True) if moment.utcoffset() else "")


_NUMBERS: dict[str, tuple[int, Callable[[datetime], int]]] = {
    "d": (2, lambda moment: moment.day),
    "D": (3, lambda moment: moment.timetuple().tm_yday),
    "H": (2, lambda moment: moment.hour),
    "k": (2, lambda moment: moment.hour or 24),
    "K": (2, lambda moment: moment.hour % 12),
    "h": (2, lambda moment: moment.hour % 12 or 12),
    "m": (2, lambda moment: moment.minute),
    "s": (2, lambda moment: moment.second),
    "A": (19, _millis_of_day),
    "n": (19, lambda moment: moment.microsecond * 1000),
    "N": (19, lambda moment: _millis_of_day(moment) * 1_000_000),
}
_WORDS: dict[str, tuple[int, Callable[[datetime, int], str]]] = {
    "y": (15, _year),
    "u": (15, _year),
    "M": (5, _month),
    "L": (5, _month),
    "E": (5, _weekday),
    "Q": (5, _quarter),
    "q": (5, _quarter),
    "a": (1, lambda moment, count: "AM" if moment.hour < 12 else "PM"),
    "S": (9, _fraction),
    "X": (5, _offset_or_z),
    "x": (5, _offset),
    "Z": (5, _offset_rfc),
}


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BucketNaming(ABC):
    """Names the buckets that elements are written to. Picklable."""

    timed: bool
    """True if the bucket depends on the time."""

    @abstractmethod
    def bucket(self, now: int) -> str:
        """Return the bucket, a relative path, for a processing time in ms."""

    def of_element(self) -> Callable[[object], str] | None:
        """Return a function that names the bucket of an element, or None if the time decides."""
        return None


class BasePathBuckets(BucketNaming):
    """One bucket: the base path."""

    timed = False

    def bucket(self, now: int) -> str:
        return ""


class DateTimeBuckets(BucketNaming):
    """A bucket for each period of time; by default for each hour.

    Args:
        pattern: a pattern of Java's ``DateTimeFormatter``.
        zone_id: a time zone; None for the time zone of the machine that writes.

    Raises:
        ValueError: the pattern or the zone is not valid in Java.
        UnsupportedFlinkFeature: the pattern has a letter that is not supported here.
    """

    timed = True

    def __init__(self, pattern: str = "yyyy-MM-dd--HH", zone_id: str | None = None) -> None:
        name, zone = ("", None) if zone_id is None else parse_time_zone(zone_id)
        self._zone: tzinfo | None = zone
        self._pattern = DatePattern(pattern, name)
        if ":" in self.bucket(0).partition("/")[0]:
            raise ValueError(f"the first folder of a bucket cannot have a colon: {pattern!r}")

    def bucket(self, now: int) -> str:
        moment = _EPOCH + timedelta(milliseconds=now)
        return self._pattern.format(moment.astimezone(self._zone)).lstrip("/")


class ElementBuckets(BasePathBuckets):
    """The buckets that a function of the user assigns.

    Args:
        function: its ``bucket_of`` returns a relative path; an empty path is the base path.
    """

    def __init__(self, function: UserFunction) -> None:
        self._function = function

    def of_element(self) -> Callable[[object], str]:
        name_of = self._function.load().bucket_of

        def bucket_of(element: object) -> str:
            name = name_of(element)
            if type(name) is not str or name.startswith("/") or ".." in name.split("/"):
                raise ValueError(
                    f"a bucket is a path below the sink's folder, not {name!r}, "
                    f"for {bounded_repr(element)}"
                )
            return name

        return bucket_of
