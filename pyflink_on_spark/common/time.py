"""Amounts of time and points in time."""

from __future__ import annotations

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options.option import AmountOfTime, checked_long

__all__ = ["Duration", "Instant", "Time"]

_NANOS = {
    "milli": 10**6,
    "second": 10**9,
    "minute": 60 * 10**9,
    "hour": 3600 * 10**9,
    "day": 86400 * 10**9,
}


class Duration(AmountOfTime):
    """An amount of time, exact to the nanosecond.

    Made with ``of_days`` and its like.

    Args:
        j_duration: the whole amount in nanoseconds.
    """

    def __init__(self, j_duration: object) -> None:
        super().__init__(own_handle(j_duration, int, "Duration(j_duration)"))

    @staticmethod
    def of_days(days: int) -> Duration:
        """Return a duration of the given number of days of 24 hours."""
        return Duration(checked_long(days, "Duration.of_days(days)") * _NANOS["day"])

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """Return a duration of the given number of hours."""
        return Duration(checked_long(hours, "Duration.of_hours(hours)") * _NANOS["hour"])

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """Return a duration of the given number of milliseconds."""
        return Duration(checked_long(millis, "Duration.of_millis(millis)") * _NANOS["milli"])

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """Return a duration of the given number of minutes."""
        return Duration(checked_long(minutes, "Duration.of_minutes(minutes)") * _NANOS["minute"])

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return a duration of the given number of nanoseconds."""
        return Duration(checked_long(nanos, "Duration.of_nanos(nanos)"))

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """Return a duration of the given number of seconds."""
        return Duration(checked_long(seconds, "Duration.of_seconds(seconds)") * _NANOS["second"])


class Instant:
    """A point in time.

    Args:
        seconds: whole seconds since 1970-01-01T00:00Z.
        nanos: nanoseconds after that second, from 0 to 999,999,999.
    """

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    def to_epoch_milli(self) -> int:
        """Return the milliseconds since 1970-01-01T00:00Z."""
        return self.seconds * 1000 + self.nanos // _NANOS["milli"]

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the instant that many milliseconds after 1970-01-01T00:00Z."""
        seconds, millis = divmod(epoch_milli, 1000)
        return Instant(seconds, millis * _NANOS["milli"])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instant)
            and self.__class__ == other.__class__
            and (self.seconds, self.nanos) == (other.seconds, other.nanos)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


class Time:
    """A length of time in milliseconds, for windows and timeouts.

    Args:
        milliseconds: the length.
    """

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        """Return the length in milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return a length of the given number of milliseconds."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """Return a length of the given number of seconds."""
        return Time(seconds * 1000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """Return a length of the given number of minutes."""
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """Return a length of the given number of hours."""
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """Return a length of the given number of days of 24 hours."""
        return Time(days * 86_400_000)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Time)
            and self.__class__ == other.__class__
            and self._milliseconds == other._milliseconds
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"


__getattr__ = missing_name(__name__)


def nanos_of(duration: Duration) -> int:
    """The length of a duration in nanoseconds."""
    return duration._nanos  # noqa: SLF001
