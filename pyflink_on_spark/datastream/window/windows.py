"""The windows themselves: buckets that elements are put into."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING

from pyflink_on_spark.common.constants import MAX_LONG_VALUE
from pyflink_on_spark.common.serializer import TypeSerializer

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.window.assigners import MergingWindowAssigner


_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_START_AND_END = struct.Struct(">qq")
_ID = struct.Struct(">q")


def long_to_int_with_bit_mixing(x: int) -> int:
    """Spread a number's bits, so that neighbours get far apart."""
    for shift, factor in _MIXERS:
        x = (x ^ x >> shift) * factor
    return x ^ x >> 31


def mod_inverse(x: int) -> int:
    """Return a number whose product with an odd ``x`` is 1 modulo 2**32."""
    error = 1 - x**4
    return (1 - error**8) // x


class Window(ABC):
    """A bucket of elements; it needs ``__eq__`` and ``__hash__``."""

    @abstractmethod
    def max_timestamp(self) -> int:
        """Return the latest time that still belongs to the window, in milliseconds."""


class TimeWindow(Window):
    """All times from a start until before an end.

    Args:
        start: the first millisecond.
        end: the first millisecond that is no longer in the window.
    """

    def __init__(self, start: int, end: int):
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        """Return the last millisecond of the window."""
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """True if two windows overlap or touch."""
        return self.start <= other.end and other.start <= self.end

    def cover(self, other: TimeWindow) -> TimeWindow:
        """Return the smallest window that contains both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int):
        """Return where the window of a timestamp starts, all in milliseconds.

        Args:
            timestamp: the time, which may be negative.
            offset: by how much windows are shifted away from multiples of their size.
            window_size: how long they are.
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(
        windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        """Find the windows that overlap or touch, and tell which to make one.

        Args:
            windows: the windows there are.
            callback: its ``merge`` gets each set of more than one, and what covers them.
        """
        groups: list[tuple[TimeWindow, set[TimeWindow]]] = []
        for window in sorted(windows):
            if groups and groups[-1][0].intersects(window):
                covered, members = groups[-1]
                members.add(window)
                groups[-1] = covered.cover(window), members
            else:
                groups.append((window, {window}))
        for covered, members in groups:
            if len(members) > 1:
                callback.merge(members, covered)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __eq__(self, other: object) -> bool:
        return (
            self.__class__ == other.__class__
            and self.end == other.end
            and self.start == other.start
        )

    def __lt__(self, other: TimeWindow) -> bool:
        if not isinstance(other, TimeWindow):
            raise Exception(f"Does not support comparison with non-TimeWindow {other}")
        return (self.start, self.end) < (other.start, other.end)

    def __le__(self, other: TimeWindow) -> bool:
        return self == other or self < other

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class CountWindow(Window):
    """A number of elements.

    Args:
        id: which window of its key it is, from 0.
    """

    def __init__(self, id: int):
        self.id = id

    def max_timestamp(self) -> int:
        """Return 2**63 - 1: time does not end the window."""
        return MAX_LONG_VALUE

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return self.__class__ == other.__class__ and self.id == other.id

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The one window that everything is in."""

    @staticmethod
    def get() -> GlobalWindow:
        """Return the window."""
        return GlobalWindow()

    def max_timestamp(self) -> int:
        """Return 2**63 - 1: time does not end the window."""
        return MAX_LONG_VALUE

    def __eq__(self, other: object) -> bool:
        return self.__class__ == other.__class__

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Writes a time window's start and end, 8 bytes each."""

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        """Write one window at the end of the stream."""
        stream.write(_START_AND_END.pack(element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        """Read one window."""
        return TimeWindow(*_START_AND_END.unpack(stream.read(_START_AND_END.size)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """Writes a count window's id, 8 bytes."""

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        """Write one window at the end of the stream."""
        stream.write(_ID.pack(element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        """Read one window."""
        return CountWindow(*_ID.unpack(stream.read(_ID.size)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Writes one zero byte."""

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        """Write one window at the end of the stream."""
        stream.write(b"\0")

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        """Read one window."""
        stream.read(1)
        return GlobalWindow.get()
