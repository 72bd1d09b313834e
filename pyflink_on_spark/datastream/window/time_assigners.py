"""Windows with a start and an end; those of a fixed length, consecutive or overlapping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import TypeVar

from pyflink_on_spark.common.constants import MIN_LONG_VALUE
from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.common.time import Time
from pyflink_on_spark.datastream.window.assigner import WindowAssigner
from pyflink_on_spark.datastream.window.serializers import TimeWindowSerializer
from pyflink_on_spark.datastream.window.trigger import Trigger
from pyflink_on_spark.datastream.window.triggers import EventTimeTrigger, ProcessingTimeTrigger
from pyflink_on_spark.datastream.window.windows import TimeWindow

T = TypeVar("T")


class TimeWindowAssigner(WindowAssigner[T, TimeWindow]):
    """Assigns windows with a start and an end."""

    @abstractmethod
    def _windows_of(self, element: T, time: int) -> list[TimeWindow]: ...

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        """Return the serializer of time windows."""
        return TimeWindowSerializer()


class InEventTime(TimeWindowAssigner[T]):
    """Assigns windows by the timestamp of the element."""

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the windows of the timestamp, the latest first."""
        return self._windows_of(element, timestamp)

    def get_default_trigger(self, env) -> Trigger[T, TimeWindow]:
        """Return a trigger that fires when the watermark passes the end of the window."""
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        """Return True."""
        return True


class InProcessingTime(TimeWindowAssigner[T]):
    """Assigns windows by the machine's clock."""

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        """Return the windows of now, the latest first."""
        return self._windows_of(element, context.get_current_processing_time())

    def get_default_trigger(self, env) -> Trigger[T, TimeWindow]:
        """Return a trigger that fires when the clock passes the end of the window."""
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        """Return False."""
        return False


class _Tumbling(TimeWindowAssigner[T]):
    """Consecutive windows."""

    def __init__(self, size: int, offset: int):
        if abs(offset) >= size:
            raise Exception(f"{type(self).__name__} parameters must satisfy abs(offset) < size")
        self._size = size
        self._offset = offset

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"

    def _windows_of(self, element: T, time: int) -> list[TimeWindow]:
        _require_timestamp(time)
        start = TimeWindow.get_window_start_with_offset(time, self._offset, self._size)
        return [TimeWindow(start, start + self._size)]


class TumblingProcessingTimeWindows(InProcessingTime[T], _Tumbling[T]):
    """Consecutive windows of processing time.

    Args:
        size: how long they are, in milliseconds.
        offset: by how much they are shifted away from multiples of their size.

    Raises:
        Exception: the offset is not smaller than the size.
    """

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingProcessingTimeWindows:
        """Make windows of a size, shifted by an offset."""
        return TumblingProcessingTimeWindows(size.to_milliseconds(), _millis(offset))


class TumblingEventTimeWindows(InEventTime[T], _Tumbling[T]):
    """Consecutive windows of event time.

    Args:
        size: how long they are, in milliseconds.
        offset: by how much they are shifted away from multiples of their size.

    Raises:
        Exception: the offset is not smaller than the size.
    """

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingEventTimeWindows:
        """Make windows of a size, shifted by an offset."""
        return TumblingEventTimeWindows(size.to_milliseconds(), _millis(offset))


class _Sliding(TimeWindowAssigner[T]):
    """Windows that begin at regular times, and may overlap or leave gaps."""

    def __init__(self, size: int, slide: int, offset: int):
        if abs(offset) >= slide or size <= 0:
            raise Exception(
                f"{type(self).__name__} parameters must satisfy abs(offset) < slide and size > 0"
            )
        self._size = size
        self._slide = slide
        self._offset = offset

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"

    def _windows_of(self, element: T, time: int) -> list[TimeWindow]:
        _require_timestamp(time)
        size = self._size
        last = TimeWindow.get_window_start_with_offset(time, self._offset, self._slide)
        return [TimeWindow(s, s + size) for s in range(last, time - size, -self._slide)]


class SlidingProcessingTimeWindows(InProcessingTime[T], _Sliding[T]):
    """Windows of the machine's time that may overlap.

    Args:
        size: how long they are, in milliseconds.
        slide: the time from the start of one to that of the next.
        offset: by how much they are shifted away from multiples of the slide.

    Raises:
        Exception: the offset is not smaller than the slide, or the size not more than 0.
    """

    @staticmethod
    def of(size: Time, slide: Time, offset: Time | None = None) -> SlidingProcessingTimeWindows:
        """Make windows of a size, one every slide, shifted by an offset."""
        return SlidingProcessingTimeWindows(
            size.to_milliseconds(), slide.to_milliseconds(), _millis(offset)
        )


class SlidingEventTimeWindows(InEventTime[T], _Sliding[T]):
    """Windows of event time that may overlap.

    Args:
        size: how long they are, in milliseconds.
        slide: the time from the start of one to that of the next.
        offset: by how much they are shifted away from multiples of the slide.

    Raises:
        Exception: the offset is not smaller than the slide, or the size not more than 0.
    """

    @staticmethod
    def of(size: Time, slide: Time, offset: Time | None = None) -> SlidingEventTimeWindows:
        """Make windows of a size, one every slide, shifted by an offset."""
        return SlidingEventTimeWindows(
            size.to_milliseconds(), slide.to_milliseconds(), _millis(offset)
        )


def _millis(offset: Time | None) -> int:
    return 0 if offset is None else offset.to_milliseconds()


def _require_timestamp(timestamp: int) -> None:
    if timestamp <= MIN_LONG_VALUE:
        raise Exception(
            "Record has Java Long.MIN_VALUE timestamp (= no timestamp marker). "
            "Is the time characteristic set to 'ProcessingTime', or did you forget to call "
            "'data_stream.assign_timestamps_and_watermarks(...)'?"
        )
