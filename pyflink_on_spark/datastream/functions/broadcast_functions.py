"""Functions over a stream and a broadcast one, whose state every parallel instance has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from pyflink_on_spark.datastream.functions.base import Function
from pyflink_on_spark.datastream.functions.contexts import (
    ClockContext,
    FiringContext,
    KeyedContext,
    TimestampedContext,
)

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.state import (
        BroadcastState,
        MapStateDescriptor,
        ReadOnlyBroadcastState,
    )

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
