"""Functions over the elements of a window."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from pyflink_on_spark.datastream.functions.base import Function
from pyflink_on_spark.datastream.functions.contexts import ClockContext, WindowStateContext

W = TypeVar("W")
W2 = TypeVar("W2")
IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Works on the elements of one key's window.

    Example:
        >>> class Sorted(WindowFunction):
        ...     def apply(self, key, window, inputs):
        ...         yield sorted(inputs)
        >>> windows = env.from_collection([2, 1, 4, 3]).key_by(lambda number: "all").count_window(2)
        >>> list(windows.apply(Sorted()).execute_and_collect())
        [[1, 2], [3, 4]]
    """

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return an iterable of results, or yield them.

        Args:
            key: whose window it is.
            window: the window that fires.
            inputs: its elements.
        """


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Works on the elements of a window of a stream without key."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return an iterable of results, or yield them.

        Args:
            window: the window that fires.
            inputs: its elements.
        """


class _WindowContext(WindowStateContext, Generic[W2]):
    @abstractmethod
    def window(self) -> W2:
        """Return the window."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Works on the elements of one key's window, with time and state at hand.

    Example:
        >>> class Total(ProcessWindowFunction):
        ...     def process(self, key, context, elements):
        ...         window = context.window()
        ...         yield key, window.start, window.end, sum(elements)
        >>> def total(stream):
        ...     windows = stream.key_by(lambda number: "all").window(
        ...         TumblingEventTimeWindows.of(Time.seconds(1))
        ...     )
        ...     return windows.process(Total())
        >>> with StreamHarness(total) as harness:
        ...     harness.push(1, timestamp=10)
        ...     harness.push(2, timestamp=20)
        ...     harness.push_watermark(999)
        ...     harness.values()
        [('all', 0, 1000, 3)]
    """

    class Context(_WindowContext[W2], ClockContext):
        """The context of the window that fires."""

    @abstractmethod
    def process(
        self, key: KEY, context: ProcessWindowFunction.Context, elements: Iterable[IN]
    ) -> Iterable[OUT]:
        """Return an iterable of results, or yield them; ``tag, value`` is a side output.

        Args:
            key: whose window it is.
            context: valid during this call only.
            elements: what is in the window.
        """

    def clear(self, context: ProcessWindowFunction.Context) -> None:
        """Clear the window's own state; called once, when the window is cleared.

        Args:
            context: valid during this call only.
        """


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """Works on the elements of a window of a stream without key, with state at hand."""

    class Context(_WindowContext[W2]):
        """The context of the window that fires."""

    @abstractmethod
    def process(
        self, context: ProcessAllWindowFunction.Context, elements: Iterable[IN]
    ) -> Iterable[OUT]:
        """Return an iterable of results, or yield them; ``tag, value`` is a side output.

        Args:
            context: valid during this call only.
            elements: what is in the window.
        """

    def clear(self, context: ProcessAllWindowFunction.Context) -> None:
        """Clear the window's own state; called once, when the window is cleared.

        Args:
            context: valid during this call only.
        """


class PassThroughWindowFunction(WindowFunction[IN, IN, KEY, W]):
    """Emits the elements of the window."""

    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Yield the window's elements."""
        yield from inputs


class PassThroughAllWindowFunction(AllWindowFunction[IN, IN, W]):
    """Emits the elements of the window of a stream without key."""

    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Yield the window's elements."""
        yield from inputs
