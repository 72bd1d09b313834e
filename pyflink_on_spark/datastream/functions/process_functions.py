"""Functions that see time, and on keyed streams set timers."""

from __future__ import annotations

from abc import abstractmethod

from pyflink_on_spark.datastream.functions.base import Function
from pyflink_on_spark.datastream.functions.contexts import (
    FiringContext,
    KeyedContext,
    TimedContext,
)


class ProcessFunction(Function):
    """Makes any number of elements of each element of a stream without key.

    Example:
        >>> odd = OutputTag("odd", Types.INT())
        >>> class Split(ProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         if value % 2:
        ...             yield odd, value
        ...         else:
        ...             yield value
        >>> even = env.from_collection([1, 2, 3], Types.INT()).process(Split(), Types.INT())
        >>> list(even.get_side_output(odd).execute_and_collect())
        [1, 3]
    """

    class Context(TimedContext):
        """The context of an element; timers are for keyed streams only."""

    @abstractmethod
    def process_element(self, value, ctx: ProcessFunction.Context):
        """Return an iterable of results, or yield them; ``tag, value`` is a side output.

        Args:
            value: the element.
            ctx: valid during this call only.
        """


class KeyedProcessFunction(Function):
    """Makes any number of elements of each element of a keyed stream, and of timers.

    Example:
        >>> class Count(KeyedProcessFunction):
        ...     def open(self, runtime_context):
        ...         descriptor = ValueStateDescriptor("count", Types.LONG())
        ...         self.count = runtime_context.get_state(descriptor)
        ...
        ...     def process_element(self, value, ctx):
        ...         self.count.update((self.count.value() or 0) + 1)
        ...         ctx.timer_service().register_event_time_timer(1000)
        ...
        ...     def on_timer(self, timestamp, ctx):
        ...         yield ctx.get_current_key(), self.count.value()
        >>> words = env.from_collection(["to", "be", "to"]).key_by(lambda word: word)
        >>> sorted(words.process(Count()).execute_and_collect())
        [('be', 1), ('to', 2)]
    """

    class Context(KeyedContext):
        """The context of an element."""

    class OnTimerContext(Context, FiringContext):
        """The context of a timer that fires; its timestamp is the timer's time."""

    @abstractmethod
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        """Return an iterable of results, or yield them; ``tag, value`` is a side output.

        Args:
            value: the element.
            ctx: valid during this call only.
        """

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext):
        """Return an iterable of results of a timer that fires, or yield them.

        Args:
            timestamp: the time that the timer was registered for, in milliseconds.
            ctx: valid during this call only.
        """


class CoProcessFunction(Function):
    """Makes any number of elements of each element of two connected streams without key."""

    class Context(TimedContext):
        """The context of an element; timers are for keyed streams only."""

    @abstractmethod
    def process_element1(self, value, ctx: CoProcessFunction.Context):
        """Return an iterable of results of an element of the first stream, or yield them.

        Args:
            value: the element.
            ctx: valid during this call only.
        """

    @abstractmethod
    def process_element2(self, value, ctx: CoProcessFunction.Context):
        """Return an iterable of results of an element of the second stream, or yield them.

        Args:
            value: the element.
            ctx: valid during this call only.
        """


class KeyedCoProcessFunction(Function):
    """Makes any number of elements of each element of two keyed streams, and of timers.

    Example:
        >>> class Priced(KeyedCoProcessFunction):
        ...     def open(self, runtime_context):
        ...         descriptor = ValueStateDescriptor("price", Types.LONG())
        ...         self.price = runtime_context.get_state(descriptor)
        ...
        ...     def process_element1(self, value, ctx):
        ...         yield value, self.price.value()
        ...
        ...     def process_element2(self, value, ctx):
        ...         self.price.update(value[1])
        >>> harness = harness_for(Priced(), lambda order: order, second_key_selector=lambda p: p[0])
        >>> with harness:
        ...     harness.push(("tea", 3), into=2)
        ...     harness.push("tea")
        ...     harness.values()
        [('tea', 3)]
    """

    class Context(KeyedContext):
        """The context of an element."""

    class OnTimerContext(Context, FiringContext):
        """The context of a timer that fires; its timestamp is the timer's time."""

    @abstractmethod
    def process_element1(self, value, ctx: KeyedCoProcessFunction.Context):
        """Return an iterable of results of an element of the first stream, or yield them.

        Args:
            value: the element.
            ctx: valid during this call only.
        """

    @abstractmethod
    def process_element2(self, value, ctx: KeyedCoProcessFunction.Context):
        """Return an iterable of results of an element of the second stream, or yield them.

        Args:
            value: the element.
            ctx: valid during this call only.
        """

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext):
        """Return an iterable of results of a timer that fires, or yield them.

        Args:
            timestamp: the time that the timer was registered for, in milliseconds.
            ctx: valid during this call only.
        """
