"""Triggers that fire once a window's time is over, after a count, or never."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, Generic, TypeVar

from pyflink_on_spark.common.time import Time
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream.functions import ReduceFunction
from pyflink_on_spark.datastream.state import (
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
)
from pyflink_on_spark.datastream.window.windows import CountWindow, GlobalWindow, TimeWindow, Window
from pyflink_on_spark.metrics import MetricGroup

T = TypeVar("T")
W = TypeVar("W")


class TriggerResult(Enum):
    """The decision of a trigger: to fire the window or not, to purge it or not."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """True if the window function is to be called."""
        return self.value[0]

    def is_purge(self) -> bool:
        """True if the window is to be emptied."""
        return self.value[1]


class Trigger(ABC, Generic[T, W]):
    """Says when a window fires.

    One object serves all keys and windows: what it remembers belongs into partitioned state.

    Example:
        >>> class AtEnd(Trigger):
        ...     def on_element(self, element, timestamp, window, ctx):
        ...         if element == ".":
        ...             return TriggerResult.FIRE_AND_PURGE
        ...         return TriggerResult.CONTINUE
        ...
        ...     def on_processing_time(self, time, window, ctx):
        ...         return TriggerResult.CONTINUE
        ...
        ...     def on_event_time(self, time, window, ctx):
        ...         return TriggerResult.CONTINUE
        ...
        ...     def on_merge(self, window, ctx):
        ...         pass
        ...
        ...     def clear(self, window, ctx):
        ...         pass
        >>> words = env.from_collection(["to", "be", ".", "or", "."]).key_by(lambda word: "all")
        >>> sentences = words.window(GlobalWindows.create()).trigger(AtEnd())
        >>> list(sentences.reduce(lambda a, b: f"{a} {b}").execute_and_collect())
        ['to be .', 'or .']
    """

    class TriggerContext(ABC):
        """Time, timers and state of one key and window."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the machine's time, in milliseconds since the epoch."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the group that the trigger's metrics belong to."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the watermark in milliseconds; -2**63 before the first one."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Have ``on_processing_time`` called at a time in milliseconds."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Have ``on_event_time`` called at a time in milliseconds."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Forget a processing-time timer."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Forget an event-time timer."""

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
            """Return a state of this key and window.

            Args:
                state_descriptor: its name and type.
            """

    class OnMergeContext(TriggerContext):
        """The context of a window that others were merged into."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Merge a state of the former windows into that of the new one.

            Args:
                state_descriptor: a list, reducing or aggregating state.
            """

    @abstractmethod
    def on_element(
        self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Decide what happens now that a window got an element.

        Args:
            element: the element.
            timestamp: its timestamp in milliseconds.
            window: the window.
            ctx: valid during this call only.
        """

    @abstractmethod
    def on_processing_time(
        self, time: int, window: W, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Decide what happens when a processing-time timer of the trigger fires.

        Args:
            time: the time of the timer in milliseconds.
            window: the window.
            ctx: valid during this call only.
        """

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide what happens when an event-time timer of the trigger fires.

        Args:
            time: the time of the timer in milliseconds.
            window: the window.
            ctx: valid during this call only.
        """

    def can_merge(self) -> bool:
        """True for a trigger that works with merging windows; such a trigger has ``on_merge``."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Merge the state of windows that became one.

        Args:
            window: the new window.
            ctx: valid during this call only.
        """

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Clear the timers and the state of a window.

        Args:
            window: the window.
            ctx: valid during this call only.
        """


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


class EventTimeTrigger(Trigger[T, TimeWindow]):
    """Fires when the watermark passes the end of the window, then at each late element."""

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at once if the window's time is over, else set a timer for its end."""
        last = window.max_timestamp()
        if last <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(last)
        return TriggerResult.CONTINUE

    def on_processing_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at the end of the window."""
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Set a timer for the end of the merged window, unless its time is over."""
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer for the end of the window."""
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger:
        """Make the trigger."""
        return EventTimeTrigger()


class ProcessingTimeTrigger(Trigger[T, TimeWindow]):
    """Fires when the machine's clock passes the end of the window."""

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Set a timer for the end of the window."""
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire."""
        return TriggerResult.FIRE

    def on_event_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Set a timer for the end of the merged window, unless its time is over."""
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer for the end of the window."""
        ctx.delete_processing_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """Make the trigger."""
        return ProcessingTimeTrigger()


class CountTrigger(Trigger[T, CountWindow]):
    """Fires each time that the window got a number of elements; it does not empty the window.

    Args:
        window_size: the number of elements.
    """

    def __init__(self, window_size: int):
        self._window_size = window_size
        self._count_state_descriptor = ReducingStateDescriptor("count", operator.add, Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Make a trigger that fires every ``window_size`` elements."""
        return CountTrigger(window_size)

    def on_element(
        self, element: T, timestamp: int, window: CountWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Count; fire and start again from zero when the number is reached."""
        count = ctx.get_partitioned_state(self._count_state_descriptor)
        count.add(1)  # type: ignore[attr-defined]
        if count.get() < self._window_size:  # type: ignore[attr-defined]
            return TriggerResult.CONTINUE
        count.clear()
        return TriggerResult.FIRE

    def on_processing_time(
        self, time: int, window: CountWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(
        self, time: int, window: CountWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: CountWindow, ctx: Trigger.OnMergeContext) -> None:
        """Add up the counts."""
        ctx.merge_partitioned_state(self._count_state_descriptor)

    def clear(self, window: CountWindow, ctx: Trigger.TriggerContext) -> None:
        """Forget the count."""
        ctx.get_partitioned_state(self._count_state_descriptor).clear()


class PurgingTrigger(Trigger[T, Window]):
    """Empties the window whenever another trigger fires it.

    Args:
        nested_trigger: the other trigger.
    """

    def __init__(self, nested_trigger: Trigger[T, Window]):
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[T, Window]) -> PurgingTrigger:
        """Make a trigger that purges when ``nested_trigger`` fires."""
        return PurgingTrigger(nested_trigger)

    def on_element(
        self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Ask the other trigger."""
        return _purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_event_time(
        self, time: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Ask the other trigger."""
        return _purging(self.nested_trigger.on_event_time(time, window, ctx))

    def on_processing_time(
        self, time: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Ask the other trigger."""
        return _purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Let the other trigger clear the window."""
        self.nested_trigger.clear(window, ctx)

    def can_merge(self) -> bool:
        """True if the nested trigger can merge."""
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Let the other trigger merge."""
        self.nested_trigger.on_merge(window, ctx)


class NeverTrigger(Trigger[T, GlobalWindow]):
    """Never fires: the default trigger of a global window."""

    def on_element(
        self, element: T, timestamp: int, window: GlobalWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_processing_time(
        self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_event_time(
        self, time: int, window: GlobalWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE

    def on_merge(self, window: GlobalWindow, ctx: Trigger.OnMergeContext) -> None:
        """Do nothing."""

    def clear(self, window: GlobalWindow, ctx: Trigger.TriggerContext) -> None:
        """Do nothing."""


def _purging(result: TriggerResult) -> TriggerResult:
    return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result
