"""Which folder under the base path an element is written to."""

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


class BucketAssigner(ABC):
    """Names the buckets that elements are written to. Picklable."""

    timed: bool
    """Whether the bucket changes with the time."""

    @abstractmethod
    def bucket(self, now: int) -> str:
        """Return the bucket, a relative path, for a processing time in ms."""

    def of_element(self) -> Callable[[Any], str] | None:
        """Return what names an element's bucket, if the element decides and not the time."""
        return None


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


class ElementBuckets(BasePathBuckets):
    """Each element says where it goes.

    Args:
        function: its ``bucket_of`` returns a relative path; an empty one is the base path.
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
