"""The base class of window assigners, which determine the windows of an element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.datastream.functions import RuntimeContext
from pyflink_on_spark.datastream.window.triggers import Trigger

T = TypeVar("T")
W = TypeVar("W")
W2 = TypeVar("W2")


class WindowAssigner(ABC, Generic[T, W]):
    """Says which windows an element belongs to."""

    class WindowAssignerContext(ABC):
        """The context of an assigner."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the machine's time, in milliseconds since the epoch."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return where the assigner runs, and the state of the current key."""

    @abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """Return the windows of an element.

        Args:
            element: the element.
            timestamp: its timestamp in milliseconds; -2**63 when it has none.
            context: valid during this call only.
        """

    @abstractmethod
    def get_default_trigger(self, env) -> Trigger[T, W]:
        """Return the trigger for those who set none.

        Args:
            env: the execution environment.
        """

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return the serializer of the windows."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """True if the watermark ends the windows, False if the machine's clock does."""


class MergingWindowAssigner(WindowAssigner[T, W]):
    """Assigns windows that grow together.

    On Spark: the elements of windows that became one come in the order of the windows' age. In
    PyFlink the order of a hash table says whose come first.
    """

    class MergeCallback(ABC, Generic[W2]):
        """Called with the windows that become one."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """Make several windows one.

            Args:
                to_be_merged: the windows.
                merge_result: the window that takes their place.
            """

    @abstractmethod
    def merge_windows(
        self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]
    ) -> None:
        """Find out which windows are to become one.

        Args:
            windows: the windows of the current key.
            callback: called with each group of them.
        """


class SessionWindowTimeGapExtractor(ABC):
    """Returns for each element how long its session waits for another element."""

    @abstractmethod
    def extract(self, element: object) -> int:
        """Return the gap after an element, in milliseconds, more than 0."""
