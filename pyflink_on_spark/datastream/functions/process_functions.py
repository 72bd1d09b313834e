"""Process functions: of one stream, of two, and of one with a broadcast stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from pyflink_on_spark.datastream.functions.element_functions import Function
from pyflink_on_spark.datastream.functions.runtime_context import (
    ClockContext,
    FiringContext,
    KeyedContext,
    TimedContext,
    TimestampedContext,
)

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.state import (
        BroadcastState,
        MapStateDescriptor,
        ReadOnlyBroadcastState,
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


IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class BaseBroadcastProcessFunction(Function):
    """The root of the functions with a broadcast input."""

    class BaseContext(TimestampedContext, ClockContext):
        """The context of an element."""

    class Context(BaseContext):
        """The broadcast side, which may change the broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState:
            """Return one of the states that the stream was broadcast with.

            Args:
                state_descriptor: the one given to ``broadcast()``.
            """

    class ReadOnlyContext(BaseContext):
        """The other side, which may look at the broadcast state only."""

        @abstractmethod
        def get_broadcast_state(
            self, state_descriptor: MapStateDescriptor
        ) -> ReadOnlyBroadcastState:
            """Return one of the states that the stream was broadcast with.

            Args:
                state_descriptor: the one given to ``broadcast()``.
            """


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """Works on a stream without key together with a broadcast stream.

    Example:
        >>> rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())
        >>> class Limit(BroadcastProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         if value <= (ctx.get_broadcast_state(rules).get("limit") or 0):
        ...             yield value
        ...
        ...     def process_broadcast_element(self, value, ctx):
        ...         ctx.get_broadcast_state(rules).put("limit", value)
        >>> with harness_for(Limit(), broadcast_state=[rules]) as harness:
        ...     harness.push(10, into=2)
        ...     harness.push(7)
        ...     harness.push(11)
        ...     harness.values()
        [7]
    """

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of an element of the broadcast stream."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """The context of an element of the other stream."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: ReadOnlyContext):
        """Return an iterable of results of an element of the stream, or yield them.

        Args:
            value: the element.
            ctx: valid during this call only.
        """

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: Context):
        """Return an iterable of results of a broadcast element, or yield them.

        Every parallel instance gets it, and must change the state in the same way.

        Args:
            value: the element.
            ctx: valid during this call only.
        """


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """Works on a keyed stream, and its timers, together with a broadcast stream."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """The context of an element of the broadcast stream, which has no key."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, KeyedContext):
        """The context of an element of the keyed stream."""

    class OnTimerContext(ReadOnlyContext, FiringContext, ABC):
        """The context of a timer that fires; its timestamp is the timer's time."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: ReadOnlyContext):
        """Return an iterable of results of an element of the keyed stream, or yield them.

        Args:
            value: the element.
            ctx: valid during this call only.
        """

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: Context):
        """Return an iterable of results of a broadcast element, or yield them.

        Every parallel instance gets it, and must change the state in the same way.

        Args:
            value: the element.
            ctx: valid during this call only.
        """

    def on_timer(self, timestamp: int, ctx: OnTimerContext):
        """Return an iterable of results of a timer that fires, or yield them.

        Args:
            timestamp: the time that the timer was registered for, in milliseconds.
            ctx: valid during this call only.
        """
