"""Triggers that fire again and again while a window is open."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

from pyflink_on_spark.common.time import Time
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream.functions import ReduceFunction
from pyflink_on_spark.datastream.state import ReducingState, ReducingStateDescriptor
from pyflink_on_spark.datastream.window.trigger import Trigger, TriggerResult
from pyflink_on_spark.datastream.window.windows import TimeWindow

T = TypeVar("T")


class Min(ReduceFunction):
    """Keeps the smaller of two values."""

    def reduce(self, value1, value2):
        """Return the smaller one."""
        return min(value1, value2)


class _ContinuousTrigger(Trigger[T, TimeWindow]):
    """Remembers when the window fires next; which clock that is, subclasses know."""

    def __init__(self, interval: int):
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", Min(), Types.LONG())
        self.fire_timestamp_state = None

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Continue with the earliest of the next firings."""
        ctx.merge_partitioned_state(self.state_desc)
        timestamp = self._next_fire(ctx).get()
        if timestamp is not None:
            self._register(timestamp, ctx)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Forget the next firing."""
        next_fire = self._next_fire(ctx)
        timestamp = next_fire.get()
        if timestamp is not None:
            self._delete(timestamp, ctx)
            next_fire.clear()

    def register_next_fire_timestamp(
        self,
        time: int,
        window: TimeWindow,
        ctx: Trigger.TriggerContext,
        fire_timestamp_state: ReducingState,
    ):
        """Remember and register the firing that follows a time, at the window's end at latest."""
        timestamp = min(time + self.interval, window.max_timestamp())
        fire_timestamp_state.add(timestamp)
        self._register(timestamp, ctx)

    def _fire_at(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        next_fire = self._next_fire(ctx)
        if next_fire.get() != time:
            return TriggerResult.CONTINUE
        next_fire.clear()
        self.register_next_fire_timestamp(time, window, ctx, next_fire)
        return TriggerResult.FIRE

    def _begin(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        next_fire = self._next_fire(ctx)
        if next_fire.get() is None:
            started = time - time % self.interval
            self.register_next_fire_timestamp(started, window, ctx, next_fire)

    def _next_fire(self, ctx: Trigger.TriggerContext) -> Any:
        return ctx.get_partitioned_state(self.state_desc)

    @abstractmethod
    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None: ...

    @abstractmethod
    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None: ...


class ContinuousEventTimeTrigger(_ContinuousTrigger[T]):
    """Fires whenever the watermark passes a multiple of an interval, and at the window's end.

    Args:
        interval: the time between two firings, in milliseconds.
    """

    @staticmethod
    def of(interval: Time) -> ContinuousEventTimeTrigger:
        """Make a trigger that fires every ``interval``."""
        return ContinuousEventTimeTrigger(interval.to_milliseconds())

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at once if the window's time is over, else see to it that timers are set."""
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        self._begin(timestamp, window, ctx)
        return TriggerResult.CONTINUE

    def on_processing_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at the window's end, and when an interval is over, which begins the next one."""
        if time == window.max_timestamp():
            return TriggerResult.FIRE
        return self._fire_at(time, window, ctx)

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_event_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(time)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T]):
    """Fires whenever the machine's clock passes a multiple of an interval.

    Args:
        interval: the time between two firings, in milliseconds.
    """

    @staticmethod
    def of(interval: Time) -> ContinuousProcessingTimeTrigger:
        """Make a trigger that fires every ``interval``."""
        return ContinuousProcessingTimeTrigger(interval.to_milliseconds())

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """See to it that a timer is set."""
        self._begin(ctx.get_current_processing_time(), window, ctx)
        return TriggerResult.CONTINUE

    def on_processing_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire when an interval is over, and begin the next one."""
        return self._fire_at(time, window, ctx)

    def on_event_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def _register(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_processing_time_timer(time)

    def _delete(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(time)
