"""The rows of channels: bundles of elements, the events between them, and a cursor over both."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

MIN_TIMESTAMP = -(2**63)
MAX_WATERMARK = 2**63 - 1

BUNDLE_SIZE = 4096
"""How many elements a source hands over at once; the most that a buffer of an exchange holds."""


def tune_garbage_collection() -> None:
    """Let Python search for cycles after 50,000 new objects and not after 700, in new ones only.

    A bundle alone has more than those, and hardly ever a cycle among them: the searches took a
    tenth of the time of a job that counts words, and a third of a join's. What outlives a search is
    state, most of which is gone before 100 searches have passed: a search of it after 20 took 4 to
    7 % of a join's time.
    """
    gc.set_threshold(50_000, 100, 10)


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
    keys: list[object] | None = None

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

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle it shortly: each of many channels gets one."""
        return Watermark, (self.timestamp,)


@dataclass(slots=True, frozen=True)
class ChannelStatus:
    """The end or the beginning of an idle phase, in which watermarks ignore the channel."""

    idle: bool

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle it shortly."""
        return ChannelStatus, (self.idle,)


@dataclass(slots=True, frozen=True)
class EndOfInput:
    """Nothing follows on this channel."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle it shortly."""
        return EndOfInput, ()


@dataclass(slots=True, frozen=True)
class Barrier:
    """A separator: elements before the barrier belong to the checkpoint, later ones do not."""

    checkpoint_id: int

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle it shortly."""
        return Barrier, (self.checkpoint_id,)


@dataclass(slots=True, frozen=True)
class CombinedTime:
    """The event time of several channels together, for a receiver that all of them lead to.

    Args:
        watermark: the combined watermark (ms), which never goes back.
        idle: whether all channels are idle.
        ended: whether all channels have ended.
    """

    watermark: int
    idle: bool = False
    ended: bool = False


Event = Bundle | Watermark | ChannelStatus | EndOfInput | Barrier | CombinedTime


@dataclass(slots=True, eq=False)
class Cursor:
    """The element in flight in a chain: its event timestamp in ms, or None.

    The operators of a chain share it. While an operator has control, it is the timestamp of the
    element that the operator has drawn last:

    - An operator that emits another timestamp sets the cursor before it yields. Before it draws the
      next element, it puts back what it found. An operator before it may be about to emit a second
      result for the same element.
    - An operator that draws several elements before it yields notes the timestamp of each.
    """

    timestamp: int | None = None

    def part(self) -> None:
        """Let each thread have a timestamp of its own: parts of the chain work side by side."""
        if type(self) is Cursor:
            _OF_CURSOR.__set__(self, threading.local())
            self.__class__ = _PartedCursor


_OF_CURSOR: Any = vars(Cursor)["timestamp"]


class _PartedCursor(Cursor):
    """Finds the timestamp of the thread that asks; a chain that stays whole has no such lookup."""

    __slots__ = ()

    @property
    def timestamp(self) -> int | None:
        """The timestamp of the element that this thread works on."""
        return getattr(_OF_CURSOR.__get__(self), "timestamp", None)

    @timestamp.setter
    def timestamp(self, timestamp: int | None) -> None:
        _OF_CURSOR.__get__(self).timestamp = timestamp


def noting(
    elements: Iterable[object], cursor: Cursor, timestamps: list[int | None]
) -> Iterator[object]:
    """Yield elements, and note the timestamp of each."""
    note = timestamps.append
    for value in elements:
        note(cursor.timestamp)
        yield value


def timed(
    elements: Iterable[object], timestamps: Iterable[int | None], cursor: Cursor
) -> Iterator[object]:
    """Yield elements; set the cursor to the timestamp of each before."""
    for value, cursor.timestamp in zip(elements, timestamps, strict=True):
        yield value
