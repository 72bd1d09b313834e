"""Where in a topic reading begins and ends, and which of its keys are read."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import Enum

from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument


class PositionKind(Enum):
    """The ways to name a message."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NEVER = "never"
    MESSAGE = "message"
    PUBLISH_TIME = "publish time"
    EVENT_TIME = "event time"


@dataclass(frozen=True)
class Position:
    """A place in a topic.

    Attributes:
        kind: the way it is named.
        at: the message's id, or a time in ms since the epoch.
        inclusive: whether reading begins, or ends, with this message: it is read at the
            beginning, and not read at the end.
    """

    kind: PositionKind
    at: bytes | int | None = None
    inclusive: bool = True


class StartCursor:
    """Where reading begins, when the subscription is new.

    Args:
        _j_start_cursor: the place; the methods below make it.
    """

    def __init__(self, _j_start_cursor):
        self._position = own_handle(_j_start_cursor, Position, "StartCursor(_j_start_cursor)")

    @staticmethod
    def default_start_cursor() -> StartCursor:
        """Begin at the first message there is."""
        return StartCursor.earliest()

    @staticmethod
    def earliest() -> StartCursor:
        """Begin at the first message there is."""
        return StartCursor(Position(PositionKind.EARLIEST))

    @staticmethod
    def latest() -> StartCursor:
        """Begin behind the last message."""
        return StartCursor(Position(PositionKind.LATEST))

    @staticmethod
    def from_message_id(message_id: bytes, inclusive: bool = True) -> StartCursor:
        """Begin at a message.

        Args:
            message_id: its id, serialized.
            inclusive: whether it is read itself.
        """
        at = argument(message_id, bytes, "from_message_id(message_id, inclusive)")
        return StartCursor(Position(PositionKind.MESSAGE, at, inclusive))

    @staticmethod
    def from_publish_time(timestamp: int) -> StartCursor:
        """Begin at the first message that was published at a time or later.

        Args:
            timestamp: ms since the epoch.
        """
        at = argument(timestamp, int, "from_publish_time(timestamp)")
        return StartCursor(Position(PositionKind.PUBLISH_TIME, at))

    @staticmethod
    def from_message_time(timestamp: int) -> StartCursor:
        """Begin at the first message that was published at a time or later (removed in 1.18).

        Args:
            timestamp: ms since the epoch.
        """
        warnings.warn(
            "from_message_time is deprecated, use from_publish_time",
            DeprecationWarning,
            stacklevel=2,
        )
        return StartCursor.from_publish_time(timestamp)


class StopCursor:
    """Where reading ends.

    Args:
        _j_stop_cursor: the place; the methods below make it.
    """

    def __init__(self, _j_stop_cursor):
        self._position = own_handle(_j_stop_cursor, Position, "StopCursor(_j_stop_cursor)")

    @staticmethod
    def default_stop_cursor() -> StopCursor:
        """Never end."""
        return StopCursor.never()

    @staticmethod
    def never() -> StopCursor:
        """Never end."""
        return StopCursor(Position(PositionKind.NEVER))

    @staticmethod
    def latest() -> StopCursor:
        """End with the message that is the last one when the job starts."""
        return StopCursor(Position(PositionKind.LATEST))

    @staticmethod
    def at_event_time(timestamp: int) -> StopCursor:
        """End in front of a message whose event time is a time or later."""
        return _stop(PositionKind.EVENT_TIME, timestamp, True)

    @staticmethod
    def after_event_time(timestamp: int) -> StopCursor:
        """End in front of a message whose event time is later than a time."""
        return _stop(PositionKind.EVENT_TIME, timestamp, False)

    @staticmethod
    def at_publish_time(timestamp: int) -> StopCursor:
        """End in front of a message that was published at a time or later."""
        return _stop(PositionKind.PUBLISH_TIME, timestamp, True)

    @staticmethod
    def after_publish_time(timestamp: int) -> StopCursor:
        """End in front of a message that was published later than a time."""
        return _stop(PositionKind.PUBLISH_TIME, timestamp, False)

    @staticmethod
    def at_message_id(message_id: bytes) -> StopCursor:
        """End in front of a message."""
        at = argument(message_id, bytes, "at_message_id(message_id)")
        return StopCursor(Position(PositionKind.MESSAGE, at, True))

    @staticmethod
    def after_message_id(message_id: bytes) -> StopCursor:
        """End behind a message."""
        at = argument(message_id, bytes, "after_message_id(message_id)")
        return StopCursor(Position(PositionKind.MESSAGE, at, False))


def _stop(kind: PositionKind, timestamp: int, inclusive: bool) -> StopCursor:
    at = argument(timestamp, int, f"StopCursor of an {kind.value}")
    return StopCursor(Position(kind, at, inclusive))


@dataclass(frozen=True)
class KeyRange:
    """Which keys are read.

    Attributes:
        keys: the keys as texts; None, if the other attributes say nothing either: all.
        null_key: whether messages without a key are read.
        key_bytes: a key as bytes, or None.
        ordering_key: an ordering key, or None.
    """

    keys: tuple[str, ...] | None = None
    null_key: bool = False
    key_bytes: bytes | None = None
    ordering_key: bytes | None = None


class RangeGenerator:
    """Chooses the keys that are read.

    Args:
        j_range_generator: the keys; the methods below make it.
    """

    def __init__(self, j_range_generator):
        self._range = own_handle(j_range_generator, KeyRange, "RangeGenerator(j_range_generator)")

    @staticmethod
    def full() -> RangeGenerator:
        """Read all keys."""
        return RangeGenerator(KeyRange())

    @staticmethod
    def fixed_key(
        support_null_key: bool = False,
        keys: str | list[str] | None = None,
        key_bytes: bytes | None = None,
        ordering_key_bytes: bytes | None = None,
    ) -> RangeGenerator:
        """Read some keys only.

        Args:
            support_null_key: whether messages without a key are read.
            keys: one key, or several.
            key_bytes: a key as bytes.
            ordering_key_bytes: an ordering key.
        """
        several = (keys,) if isinstance(keys, str) else tuple(keys or ())
        return RangeGenerator(KeyRange(several, support_null_key, key_bytes, ordering_key_bytes))
