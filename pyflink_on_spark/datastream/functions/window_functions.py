"""Functions of windows, and those that PyFlink makes of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, Self, TypeVar

from pyflink_on_spark.datastream.functions.element_functions import Function
from pyflink_on_spark.datastream.functions.runtime_context import (
    ClockContext,
    KeyedStateStore,
    RuntimeContext,
    WindowStateContext,
)

W = TypeVar("W")
W2 = TypeVar("W2")
IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


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


class InternalWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """A window function as an operator calls it."""

    class InternalWindowContext(WindowStateContext, ClockContext):
        """The context of the window that fires, for the operator's own functions."""

    @abstractmethod
    def process(
        self, key: KEY, window: W, context: InternalWindowContext, input_data: IN
    ) -> Iterable[OUT]:
        """Return the results of a window that fires.

        Args:
            key: whose window it is.
            window: the window.
            context: valid during this call only.
            input_data: the contents: one value, or an iterable of elements.
        """

    @abstractmethod
    def clear(self, window: W, context: InternalWindowContext):
        """Clear a window.

        Args:
            window: the window.
            context: valid during this call only.
        """


class _UnderlyingContext(WindowStateContext, Generic[W]):
    """Shows a function the operator's context."""

    def __init__(self):
        self._window: Any = None
        self._underlying: Any = None

    def _at(self, window: object, underlying: object) -> Self:
        self._window, self._underlying = window, underlying
        return self

    def window(self) -> W:
        return self._window

    def window_state(self) -> KeyedStateStore:
        return self._underlying.window_state()

    def global_state(self) -> KeyedStateStore:
        return self._underlying.global_state()


class InternalProcessWindowContext(_UnderlyingContext[W], ProcessWindowFunction.Context[W]):
    """Shows a ``ProcessWindowFunction`` the operator's context."""

    def current_processing_time(self) -> int:
        return self._underlying.current_processing_time()

    def current_watermark(self) -> int:
        return self._underlying.current_watermark()


class InternalProcessAllWindowContext(_UnderlyingContext[W], ProcessAllWindowFunction.Context[W]):
    """Shows a ``ProcessAllWindowFunction`` the operator's context."""


class _Wrapping(InternalWindowFunction[IN, OUT, KEY, W]):
    """Opens and closes the user's function, and has nothing to clear."""

    def __init__(self, wrapped_function: Any):
        self._wrapped_function = wrapped_function

    def open(self, runtime_context: RuntimeContext):
        self._wrapped_function.open(runtime_context)

    def close(self):
        self._wrapped_function.close()

    def clear(self, window: W, context: InternalWindowFunction.InternalWindowContext):
        """Do nothing: the user's function has no ``clear``."""


class _WrappingProcess(_Wrapping[IN, OUT, KEY, W]):
    """Keeps one context for the user's function, and lets it clear its state."""

    _context_class: type[Any]

    def __init__(self, wrapped_function: Any):
        super().__init__(wrapped_function)
        self._internal_context = self._context_class()

    def clear(self, window: W, context: InternalWindowFunction.InternalWindowContext):
        """Let the user's function clear the window's state."""
        self._wrapped_function.clear(self._internal_context._at(window, context))


class InternalSingleValueWindowFunction(_Wrapping[IN, OUT, KEY, W]):
    """A ``WindowFunction`` over the one value that a window was reduced to."""

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        return self._wrapped_function.apply(key, window, [input_data])


class InternalIterableWindowFunction(_Wrapping[Iterable[IN], OUT, KEY, W]):
    """A ``WindowFunction`` over a window's elements."""

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        return self._wrapped_function.apply(key, window, input_data)


class InternalSingleValueAllWindowFunction(_Wrapping[IN, OUT, int, W]):
    """An ``AllWindowFunction`` over the one value that a window was reduced to."""

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        return self._wrapped_function.apply(window, [input_data])


class InternalIterableAllWindowFunction(_Wrapping[Iterable[IN], OUT, int, W]):
    """An ``AllWindowFunction`` over a window's elements."""

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        return self._wrapped_function.apply(window, input_data)


class InternalSingleValueProcessWindowFunction(_WrappingProcess[IN, OUT, KEY, W]):
    """A ``ProcessWindowFunction`` over the one value that a window was reduced to."""

    _context_class = InternalProcessWindowContext

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        inner = self._internal_context._at(window, context)
        return self._wrapped_function.process(key, inner, [input_data])


class InternalIterableProcessWindowFunction(_WrappingProcess[Iterable[IN], OUT, KEY, W]):
    """A ``ProcessWindowFunction`` over a window's elements."""

    _context_class = InternalProcessWindowContext

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        inner = self._internal_context._at(window, context)
        return self._wrapped_function.process(key, inner, input_data)


class InternalSingleValueProcessAllWindowFunction(_WrappingProcess[IN, OUT, int, W]):
    """A ``ProcessAllWindowFunction`` over the one value that a window was reduced to."""

    _context_class = InternalProcessAllWindowContext

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        inner = self._internal_context._at(window, context)
        return self._wrapped_function.process(inner, [input_data])


class InternalIterableProcessAllWindowFunction(_WrappingProcess[Iterable[IN], OUT, int, W]):
    """A ``ProcessAllWindowFunction`` over a window's elements."""

    _context_class = InternalProcessAllWindowContext

    def process(self, key, window, context, input_data) -> Iterable[OUT]:
        inner = self._internal_context._at(window, context)
        return self._wrapped_function.process(inner, input_data)
