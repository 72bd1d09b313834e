"""Assigners of windows: sessions, time windows, counts and all elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

from pyflink_on_spark.common.constants import MIN_LONG_VALUE
from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.common.time import Time
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream.functions import RuntimeContext
from pyflink_on_spark.datastream.state import ValueStateDescriptor
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
W = TypeVar("W")


class WindowAssigner(ABC, Generic[T, W]):
    """Says which windows an element belongs to."""

    class WindowAssignerContext(ABC):
        """The context of an assigner."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the machine's time, in milliseconds since the epoch."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return where the assigner runs, and the state of the current key."""

    @abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """Return the windows of an element.

        Args:
            element: the element.
            timestamp: its timestamp in milliseconds; -2**63 when it has none.
            context: valid during this call only.
        """

    @abstractmethod
    def get_default_trigger(self, env) -> Trigger[T, W]:
        """Return the trigger for those who set none.

        Args:
            env: the execution environment.
        """

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return the serializer of the windows."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """True if the watermark ends the windows, False if the machine's clock does."""


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


W2 = TypeVar("W2")


class MergingWindowAssigner(WindowAssigner[T, W]):
    """Assigns windows that grow together.

    On Spark: the elements of windows that became one come in the order of the windows' age. In
    PyFlink the order of a hash table says whose come first.
    """

    class MergeCallback(ABC, Generic[W2]):
        """Called with the windows that become one."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """Make several windows one.

            Args:
                to_be_merged: the windows.
                merge_result: the window that takes their place.
            """

    @abstractmethod
    def merge_windows(
        self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]
    ) -> None:
        """Find out which windows are to become one.

        Args:
            windows: the windows of the current key.
            callback: called with each group of them.
        """


class _Sessions(TimeWindowAssigner[T], MergingWindowAssigner[T, TimeWindow]):
    """Windows that merge when they overlap or touch."""

    _session_gap: int

    def merge_windows(
        self,
        windows: Iterable[TimeWindow],
        callback: MergingWindowAssigner.MergeCallback[TimeWindow],
    ) -> None:
        """Find the windows that overlap or touch."""
        TimeWindow.merge_windows(windows, callback)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _FixedGap(_Sessions[T]):
    """Sessions with the same gap after every element."""

    def __init__(self, session_gap: int):
        if session_gap <= 0:
            raise Exception(f"{type(self).__name__} parameters must satisfy 0 < size")
        self._session_gap = session_gap

    def _windows_of(self, element: T, time: int) -> list[TimeWindow]:
        return [TimeWindow(time, time + self._session_gap)]


class _DynamicGap(_Sessions[T]):
    """Sessions whose gap depends on the element."""

    def __init__(self, session_window_time_gap_extractor: SessionWindowTimeGapExtractor):
        self._session_gap = 0
        self._session_window_time_gap_extractor = session_window_time_gap_extractor

    def _windows_of(self, element: T, time: int) -> list[TimeWindow]:
        gap = self._session_window_time_gap_extractor.extract(element)
        if gap <= 0:
            raise Exception("Dynamic session time gap must satisfy 0 < gap")
        self._session_gap = gap
        return [TimeWindow(time, time + gap)]


class ProcessingTimeSessionWindows(InProcessingTime[T], _FixedGap[T]):
    """Sessions of the machine's time.

    Args:
        session_gap: how long a session waits for another element, in milliseconds.

    Raises:
        Exception: the gap is not more than 0.
    """

    @staticmethod
    def with_gap(size: Time) -> ProcessingTimeSessionWindows:
        """Make sessions that end when nothing came for a time."""
        return ProcessingTimeSessionWindows(size.to_milliseconds())

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows:
        """Make sessions whose gap depends on the element."""
        return DynamicProcessingTimeSessionWindows(extractor)


class EventTimeSessionWindows(InEventTime[T], _FixedGap[T]):
    """Sessions of event time.

    Args:
        session_gap: how long a session waits for another element, in milliseconds.

    Raises:
        Exception: the gap is not more than 0.
    """

    @staticmethod
    def with_gap(size: Time) -> EventTimeSessionWindows:
        """Make sessions that end when nothing came for a time."""
        return EventTimeSessionWindows(size.to_milliseconds())

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicEventTimeSessionWindows:
        """Make sessions whose gap depends on the element."""
        return DynamicEventTimeSessionWindows(extractor)


class DynamicProcessingTimeSessionWindows(InProcessingTime[T], _DynamicGap[T]):
    """Sessions of the machine's time whose gap depends on the element.

    Args:
        session_window_time_gap_extractor: returns the length of the gap after an element.
    """

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows:
        """Make sessions whose gap depends on the element."""
        return DynamicProcessingTimeSessionWindows(extractor)


class DynamicEventTimeSessionWindows(InEventTime[T], _DynamicGap[T]):
    """Sessions of event time whose gap depends on the element.

    Args:
        session_window_time_gap_extractor: returns the length of the gap after an element.
    """

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicEventTimeSessionWindows:
        """Make sessions whose gap depends on the element."""
        return DynamicEventTimeSessionWindows(extractor)


class SessionWindowTimeGapExtractor(ABC):
    """Returns for each element how long its session waits for another element."""

    @abstractmethod
    def extract(self, element: object) -> int:
        """Return the gap after an element, in milliseconds, more than 0."""
