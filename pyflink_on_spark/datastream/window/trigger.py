"""The base of triggers, which decide when a window fires."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Generic, TypeVar

from pyflink_on_spark.datastream.state import State, StateDescriptor
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
