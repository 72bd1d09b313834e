"""Local times and points in time, both in microseconds."""

from __future__ import annotations

import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from pyflink_on_spark._sql.types.temporal import MICROS_PER_MINUTE, MICROS_PER_SECOND

_UTC = frozenset({"UTC", "Z", "GMT", "Etc/UTC"})


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    """Return a time zone by its name."""
    return ZoneInfo(name)


# Clocks are set only at whole quarters of an hour.
_QUARTER = 15 * MICROS_PER_MINUTE


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
