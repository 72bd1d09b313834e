"""The common parts of the contexts of functions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pyflink_on_spark.datastream.functions.runtime_context import KeyedStateStore
from pyflink_on_spark.datastream.time_domain import TimeDomain
from pyflink_on_spark.datastream.timerservice import TimerService


class TimestampedContext(ABC):
    """Has the timestamp of an element or a timer."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the element's timestamp in milliseconds; -2**63 when it has none."""


class TimedContext(TimestampedContext):
    """Has a clock besides."""

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Return the clock; on keyed streams also the timers of the key."""


class KeyedContext(TimedContext):
    """Has the key besides."""

    @abstractmethod
    def get_current_key(self):
        """Return the key of the element or the timer."""


class FiringContext(ABC):
    """Has the clock of a timer."""

    @abstractmethod
    def time_domain(self) -> TimeDomain:
        """Return the clock that the timer follows."""


class ClockContext(ABC):
    """Has the time of both clocks."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the machine's time, in milliseconds since the epoch."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the watermark in milliseconds; -2**63 before the first one."""


class WindowStateContext(ABC):
    """Has the state of a window."""

    @abstractmethod
    def window_state(self) -> KeyedStateStore:
        """Return the state of this key and this window; clear it in ``clear``."""

    @abstractmethod
    def global_state(self) -> KeyedStateStore:
        """Return the state of this key, over all windows."""
