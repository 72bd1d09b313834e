"""What ``process_element``, ``on_timer`` and the like get besides the element.

There is one object of each for an operator, not one for an element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.keys import unwrap_key

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.elements.cursor import Cursor
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
    from pyflink_on_spark._runtime.state.operator_state import OperatorState
    from pyflink_on_spark._runtime.state.timers import (
        BroadcastTimerService,
        KeyedTimerService,
        NonKeyedTimerService,
    )

    TimerService = KeyedTimerService | BroadcastTimerService | NonKeyedTimerService


class ElementContext:
    """For an element of a stream without key.

    Args:
        cursor: has the element's timestamp.
        timer_service: tells the time.
    """

    __slots__ = ("_cursor", "_timer_service")

    def __init__(self, cursor: Cursor, timer_service: TimerService) -> None:
        self._cursor = cursor
        self._timer_service = timer_service

    def __getattr__(self, name: str) -> Any:
        if name == "get_current_key":
            raise AttributeError(
                "there is no get_current_key() here: the element has no key. Call key_by() before "
                "this operator; elements of a broadcast stream never have one"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def timer_service(self) -> TimerService:
        """Return what tells the time and registers timers."""
        return self._timer_service

    def timestamp(self) -> int:
        """Return the element's timestamp in ms; -2**63 if it has none."""
        timestamp = self._cursor.timestamp
        return MIN_TIMESTAMP if timestamp is None else timestamp


class KeyedElementContext(ElementContext):
    """For an element of a keyed stream.

    Args:
        cursor: has the element's timestamp.
        timer_service: tells the time and registers timers.
        backend: knows the current key.
    """

    __slots__ = ("_backend",)

    def __init__(
        self, cursor: Cursor, timer_service: TimerService, backend: KeyedStateBackend
    ) -> None:
        super().__init__(cursor, timer_service)
        self._backend = backend

    def get_current_key(self) -> Any:
        """Return the element's key."""
        return unwrap_key(self._backend.key)


class TimerContext(KeyedElementContext):
    """For a timer."""

    __slots__ = ("domain", "time")

    time: int
    domain: Any

    def timestamp(self) -> int:
        """Return the timer's time in ms."""
        return self.time

    def time_domain(self) -> Any:
        """Return whether it is an event-time or a processing-time timer."""
        return self.domain


class _WithBroadcastState:
    """Adds the times of the base class of broadcast functions' contexts, and broadcast state.

    Args:
        operator_state: has the broadcast states.
        context: the arguments of the other base class.
    """

    _timer_service: TimerService

    def __init__(self, operator_state: OperatorState, *context: Any) -> None:
        super().__init__(*context)
        self._operator_state = operator_state

    def current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._timer_service.current_processing_time()

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self._timer_service.current_watermark()


class _ReadingBroadcastState(_WithBroadcastState):
    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        """Return a broadcast state for reading."""
        return self._operator_state.broadcast_state(state_descriptor).read_only()


class BroadcastElementContext(_WithBroadcastState, ElementContext):
    """For an element of the broadcast stream."""

    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        """Return a broadcast state for reading and writing."""
        return self._operator_state.broadcast_state(state_descriptor)


class ReadOnlyContext(_ReadingBroadcastState, ElementContext):
    """For an element of the other stream, without key."""


class OtherKeyedElementContext(_ReadingBroadcastState, KeyedElementContext):
    """For an element of the other stream, with key."""


class BroadcastOnTimerContext(_ReadingBroadcastState, TimerContext):
    """For a timer of a function with broadcast state."""
