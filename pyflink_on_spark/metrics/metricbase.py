"""Metrics for user functions; the runtime has the implementations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name


class MetricGroup(ABC):
    """A named place for metrics; what ``RuntimeContext.get_metrics_group()`` returns."""

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the group of this name inside this one.

        Args:
            name: the group's name; with ``extra`` the name of a user variable.
            extra: the variable's value, or None for a plain group.
        """

    @abstractmethod
    def counter(self, name: str) -> Counter:
        """Register a counter and return it."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Register a function whose result is read whenever metrics are reported."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Register a meter and return it.

        Args:
            name: the meter's name.
            time_span_in_seconds: the time over which the rate is averaged, in seconds.
        """

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Register a distribution and return it."""


class Metric(ABC):  # noqa: B024 - PyFlink's root of all metrics has no method
    """The base of all metrics: nothing but the name."""


class Counter(Metric, ABC):
    """A number that goes up and down."""

    @abstractmethod
    def inc(self, n: int = 1) -> None:
        """Add ``n``."""

    @abstractmethod
    def dec(self, n: int = 1) -> None:
        """Subtract ``n``."""

    @abstractmethod
    def get_count(self) -> int:
        """Return the number as it is now."""


class Meter(Metric, ABC):
    """The rate of events per second."""

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """Say that ``value`` events have happened."""

    @abstractmethod
    def get_count(self) -> int:
        """Return how many events have been marked altogether."""


class Distribution(Metric, ABC):
    """Smallest, largest, mean and number of the values that it is given."""

    @abstractmethod
    def update(self, value: Any) -> None:
        """Take one more value into account."""


__getattr__ = missing_name(__name__)
