"""What assigners of time windows share: the clock that decides which windows an element is in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import TypeVar

from pyflink_on_spark.common.serializer import TypeSerializer
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
