"""Windows that time does not end: of a number of elements, or of all of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.common.typeinfo import Types
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.datastream.window.assigner import WindowAssigner
from pyflink_on_spark.datastream.window.serializers import (
    CountWindowSerializer,
    GlobalWindowSerializer,
)
from pyflink_on_spark.datastream.window.trigger import Trigger
from pyflink_on_spark.datastream.window.triggers import CountTrigger, NeverTrigger
from pyflink_on_spark.datastream.window.windows import CountWindow, GlobalWindow

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
