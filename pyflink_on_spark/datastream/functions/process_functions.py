"""Functions that see time, and on keyed streams set timers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pyflink_on_spark.datastream.functions.base import Function
from pyflink_on_spark.datastream.time_domain import TimeDomain
from pyflink_on_spark.datastream.timerservice import TimerService


class ProcessFunction(Function):
    """Makes any number of elements of each element of a stream without key."""

    class Context(ABC):
        """What is known about the element in hand."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the clock; timers are for keyed streams only."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the element's timestamp in milliseconds; -2**63 when it has none."""

    @abstractmethod
    def process_element(self, value, ctx: ProcessFunction.Context):
        """Return an iterable of results, or yield them; ``tag, value`` is a side output.

        Args:
            value: the element.
            ctx: valid during this call only.
        """


class KeyedProcessFunction(Function):
    """Makes any number of elements of each element of a keyed stream, and of timers."""

    class Context(ABC):
        """What is known about the element in hand."""

        @abstractmethod
        def get_current_key(self):
            """Return the key of the element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the clock and the timers of the key."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the element's timestamp in milliseconds; -2**63 when it has none."""

    class OnTimerContext(Context):
        """What is known about a timer that fires; its timestamp is the timer's time."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return the clock that the timer follows."""

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

    class Context(ABC):
        """What is known about the element in hand."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the clock; timers are for keyed streams only."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the element's timestamp in milliseconds; -2**63 when it has none."""

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
    """Makes any number of elements of each element of two keyed streams, and of timers."""

    class Context(ABC):
        """What is known about the element in hand."""

        @abstractmethod
        def get_current_key(self):
            """Return the key of the element."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the clock and the timers of the key."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the element's timestamp in milliseconds; -2**63 when it has none."""

    class OnTimerContext(Context):
        """What is known about a timer that fires; its timestamp is the timer's time."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return the clock that the timer follows."""

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
