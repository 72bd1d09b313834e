"""Names the bucket of an element: a folder under the base path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.files.date_pattern import DatePattern
from pyflink_on_spark._connectors.files.time_zone import parse_time_zone
from pyflink_on_spark._runtime.types.explanation import bounded_repr

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.user_code.user_function import UserFunction

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BucketNaming(ABC):
    """Names the buckets that elements are written to. Picklable."""

    timed: bool
    """Whether the bucket depends on the time."""

    @abstractmethod
    def bucket(self, now: int) -> str:
        """Return the bucket, a relative path, for a processing time in ms."""

    def of_element(self) -> Callable[[Any], str] | None:
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

    def of_element(self) -> Callable[[Any], str]:
        name_of = self._function.load().bucket_of

        def bucket_of(element: Any) -> str:
            name = name_of(element)
            if type(name) is not str or name.startswith("/") or ".." in name.split("/"):
                raise ValueError(
                    f"a bucket is a path below the sink's folder, not {name!r}, "
                    f"for {bounded_repr(element)}"
                )
            return name

        return bucket_of
