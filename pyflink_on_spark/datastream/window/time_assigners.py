"""Windows with a start and an end; those of a fixed length, consecutive or overlapping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import TypeVar

from pyflink_on_spark.common.constants import MIN_LONG_VALUE
from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.common.time import Time
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.datastream.window.assigner import WindowAssigner
from pyflink_on_spark.datastream.window.triggers import (
    CountTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    Trigger,
)
from pyflink_on_spark.datastream.window.windows import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
)

T = TypeVar("T")


class _Counting(WindowAssigner[T, CountWindow]):
    """Counts the elements of each key, in the key's state."""

    _window_size: int
    _count_descriptor: ValueStateDescriptor

    def get_default_trigger(self, env) -> Trigger[T, CountWindow]:
        """Return a trigger that fires when the window is full."""
        return CountTrigger(self._window_size)

    def get_window_serializer(self) -> TypeSerializer[CountWindow]:
        """Return the serializer of count windows."""
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False."""
        return False

    def _elements_before(self, context: WindowAssigner.WindowAssignerContext) -> int:
        count = context.get_runtime_context().get_state(self._count_descriptor)
        before = count.value() or 0
        count.update(before + 1)
        return before


class CountTumblingWindowAssigner(_Counting[T]):
    """Consecutive windows of a number of elements of a key.

    Args:
        window_size: the number of elements.
    """

    def __init__(self, window_size: int):
        self._window_size = window_size
        self._count_descriptor = ValueStateDescriptor("tumble-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        """Create windows of a number of elements."""
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        """Return the window that is being filled."""
        return [CountWindow(self._elements_before(context) // self._window_size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_Counting[T]):
    """Windows of a number of elements of a key that may overlap; only full ones fire.

    Args:
        window_size: the number of elements.
        window_slide: how many elements lie between the starts of two windows.
    """

    def __init__(self, window_size: int, window_slide: int):
        self._window_size = window_size
        self._window_slide = window_slide
        self._count_descriptor = ValueStateDescriptor("slide-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        """Create windows of a number of elements, one after each slide of elements."""
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        """Return the windows that the element falls into, the latest first."""
        position = self._elements_before(context)
        last = position // self._window_slide
        first = max(0, (position - self._window_size) // self._window_slide + 1)
        return [CountWindow(window_id) for window_id in range(last, first - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"


class GlobalWindows(WindowAssigner[T, GlobalWindow]):
    """Puts all elements of a key into one window, which needs a trigger to ever fire."""

    def __init__(self) -> None:
        super().__init__()

    @staticmethod
    def create() -> GlobalWindows:
        """Make the assigner."""
        return GlobalWindows()

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[GlobalWindow]:
        """Return the one global window."""
        return [GlobalWindow.get()]

    def get_default_trigger(self, env) -> Trigger[T, GlobalWindow]:
        """Return a trigger that never fires."""
        return NeverTrigger()

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        """Return the serializer of global windows."""
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False."""
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"


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
