"""The time that the values of a partition stand for."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pyflink_on_spark._connectors.files.time_zone import parse_time_zone
from pyflink_on_spark._sql.types.date_patterns import parse_with

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a local time
_TIME = re.compile(
    r"(-?\d+)-(-?\d\d?)-(-?\d\d?)"
    r"(?: (-?\d\d?):(-?\d\d?):(-?\d\d?)(?:\.(\d{1,9}))?)?"
)


@dataclass(frozen=True)
class PartitionTime:
    """Reads times from the values of partition columns.

    Args:
        pattern: the text of a time, with ``$name`` for the value of a column; None for the value
            of the first column.
        formatter: how the time is written, in the letters of Java; None for dates and timestamps
            as SQL has them.
        zone_id: the time zone of the times, by its name in Java.
    """

    pattern: str | None
    formatter: str | None
    zone_id: str

    def read(self, partition: str) -> int:
        """Return the time of a partition, in ms since 1970.

        Args:
            partition: its folder below that of the table, ``day=2024-01-01/hour=10`` for example.

        Raises:
            ValueError: its values are no time.
        """
        pairs = [part.split("=", 1) for part in partition.split("/")]
        text = self._text([(name, unquote(value)) for name, value in pairs])
        moment = _EPOCH + datetime.timedelta(microseconds=self._micros(text))
        _, zone = parse_time_zone(self.zone_id)
        return round(moment.replace(tzinfo=zone).timestamp() * 1000)

    def _text(self, values: Sequence[tuple[str, str]]) -> str:
        if self.pattern is None:
            return values[0][1]
        text = self.pattern
        for name, value in values:
            text = text.replace(f"${name}", value)
        return text

    def _micros(self, text: str) -> int:
        found = _lenient(text) if self.formatter is None else parse_with(text, self.formatter)
        if found is None:
            raise ValueError(f"Text '{text}' could not be parsed as the time of a partition")
        return found


def _lenient(text: str) -> int | None:
    """Read a date or a timestamp, in which a month or an hour may exceed the last one."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    years, months = divmod(month - 1, 12)
    moment = datetime.datetime(year + years, months + 1, 1)  # noqa: DTZ001
    moment += datetime.timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second)
    fraction = int((found[7] or "").ljust(6, "0")[:6])
    return (moment - _EPOCH) // datetime.timedelta(microseconds=1) + fraction
