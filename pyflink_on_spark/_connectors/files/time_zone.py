"""Time zones by their names in Java."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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
