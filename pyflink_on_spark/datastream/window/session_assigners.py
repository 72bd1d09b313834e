"""Session windows: an element's window lasts until no other has come for a while."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pyflink_on_spark.common.time import Time
from pyflink_on_spark.datastream.window.assigner import (
    MergingWindowAssigner,
    SessionWindowTimeGapExtractor,
)
from pyflink_on_spark.datastream.window.time_assigners import (
    InEventTime,
    InProcessingTime,
    TimeWindowAssigner,
)
from pyflink_on_spark.datastream.window.windows import TimeWindow

T = TypeVar("T")


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
