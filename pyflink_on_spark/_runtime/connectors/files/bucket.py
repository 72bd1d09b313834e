"""Which folder under the base path an element is written to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta, tzinfo

from pyflink_on_spark._runtime.connectors.files.date_pattern import DatePattern
from pyflink_on_spark._runtime.connectors.files.time_zone import parse_time_zone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BucketAssigner(ABC):
    """Names buckets by the time at which elements are written. Picklable."""

    timed: bool
    """Whether the bucket changes with the time."""

    @abstractmethod
    def bucket(self, now: int) -> str:
        """Return the bucket, a relative path, for a processing time in ms."""


class BasePathBuckets(BucketAssigner):
    """Everything goes to the base path itself."""

    timed = False

    def bucket(self, now: int) -> str:
        return ""


class DateTimeBuckets(BucketAssigner):
    """A bucket an hour, or whatever the pattern says.

    Args:
        pattern: a pattern of Java's ``DateTimeFormatter``.
        zone_id: a time zone; None for the one of the machine that writes.

    Raises:
        ValueError: if Java would take neither the pattern nor the zone.
        UnsupportedFlinkFeature: if the pattern has a letter that is not known here.
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
