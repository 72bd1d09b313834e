"""Serializers of the built-in windows: big-endian, of a fixed length."""

from __future__ import annotations

import struct
from io import BytesIO

from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.datastream.window.windows import CountWindow, GlobalWindow, TimeWindow

_START_AND_END = struct.Struct(">qq")
_ID = struct.Struct(">q")


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
