"""The rows of channels: bundles of elements, and the events between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MIN_TIMESTAMP = -(2**63)
MAX_WATERMARK = 2**63 - 1

BUNDLE_SIZE = 4096
"""How many elements a source hands over at once; the most that a buffer of an exchange holds."""


@dataclass(slots=True)
class Bundle:
    """Some consecutive elements of one channel.

    Args:
        values: the elements.
        timestamps: the event timestamp of each element in ms, or None when the stream has none.
        keys: the key of each element, or None when the channel is not keyed.
    """

    values: list[Any]
    timestamps: list[int | None] | None = None
    keys: list[Any] | None = None

    def first(self, count: int) -> Bundle:
        """Return the first elements."""
        return self._part(slice(count))

    def after(self, count: int) -> Bundle:
        """Return the bundle without its first elements."""
        return self._part(slice(count, None)) if count else self

    def _part(self, which: slice) -> Bundle:
        return Bundle(
            self.values[which],
            None if self.timestamps is None else self.timestamps[which],
            None if self.keys is None else self.keys[which],
        )


@dataclass(slots=True, frozen=True)
class Watermark:
    """No element with a timestamp at or below this one follows on this channel."""

    timestamp: int

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it shortly: each of many channels gets one."""
        return Watermark, (self.timestamp,)


@dataclass(slots=True, frozen=True)
class ChannelStatus:
    """The end or the beginning of an idle phase, in which watermarks ignore the channel."""

    idle: bool

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it shortly."""
        return ChannelStatus, (self.idle,)


@dataclass(slots=True, frozen=True)
class EndOfInput:
    """Nothing follows on this channel."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it shortly."""
        return EndOfInput, ()


@dataclass(slots=True, frozen=True)
class Barrier:
    """A separator: elements before the barrier belong to the checkpoint, later ones do not."""

    checkpoint_id: int

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it shortly."""
        return Barrier, (self.checkpoint_id,)


Event = Bundle | Watermark | ChannelStatus | EndOfInput | Barrier
