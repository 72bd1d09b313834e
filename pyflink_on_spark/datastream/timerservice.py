"""Timers of a keyed function."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["TimerService"]


class TimerService(ABC):
    """The clock of a function, and the timers of the current key.

    A timer is known by its key, its time and its clock: registering it twice fires it once.
    """

    @abstractmethod
    def current_processing_time(self):
        """Return the machine's time, in milliseconds since the epoch."""

    @abstractmethod
    def current_watermark(self):
        """Return the watermark in milliseconds; -2**63 before the first one."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int):
        """Have ``on_timer`` called once the machine's clock has passed a time.

        Args:
            timestamp: the time, in milliseconds since the epoch.
        """

    @abstractmethod
    def register_event_time_timer(self, timestamp: int):
        """Have ``on_timer`` called once the watermark has reached a time.

        Args:
            timestamp: the time, in milliseconds since the epoch.
        """

    def delete_processing_time_timer(self, timestamp: int):
        """Forget a processing-time timer; one that is not registered is fine.

        Args:
            timestamp: the time it was registered for, in milliseconds.
        """

    def delete_event_time_timer(self, timestamp: int):
        """Forget an event-time timer; one that is not registered is fine.

        Args:
            timestamp: the time it was registered for, in milliseconds.
        """


__getattr__ = missing_name(__name__)
