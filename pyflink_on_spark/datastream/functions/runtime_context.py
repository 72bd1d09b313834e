"""The contexts of functions: of their subtask, and of the element or timer at hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pyflink_on_spark.datastream.time_domain import TimeDomain
from pyflink_on_spark.datastream.timerservice import TimerService
from pyflink_on_spark.metrics import MetricGroup

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.state import (
        AggregatingState,
        AggregatingStateDescriptor,
        ListState,
        ListStateDescriptor,
        MapState,
        MapStateDescriptor,
        ReducingState,
        ReducingStateDescriptor,
        ValueState,
        ValueStateDescriptor,
    )


class KeyedStateStore(ABC):
    """Gives access to the state of the current key.

    Descriptors of one name in one operator mean one state.
    """

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState:
        """Return the state that holds a single value.

        Args:
            state_descriptor: its name and type.
        """

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState:
        """Return the state that holds a list.

        Args:
            state_descriptor: its name and type.
        """

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState:
        """Return the state that holds a map.

        Args:
            state_descriptor: its name and types.
        """

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState:
        """Return the state that reduces added values to one value of the same type.

        Args:
            state_descriptor: its name, type and reduce function.
        """

    @abstractmethod
    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor
    ) -> AggregatingState:
        """Return the state that aggregates added values.

        Args:
            state_descriptor: its name, accumulator type and aggregate function.
        """


class RuntimeContext(KeyedStateStore):
    """The context of a function: its task, its state and its metrics."""

    @abstractmethod
    def get_task_name(self) -> str:
        """Return the name of the task: those of its chained operators."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the task."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the largest parallelism that the keys can be spread over."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Return which parallel instance this is, from 0."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Return how often the task was restarted: 0 the first time."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Return the task's name with instance (from 1), parallelism and attempt."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str):
        """Return one of the job's global parameters.

        Args:
            key: its name.
            default_value: what to return when it is not set.
        """

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Return the group that this instance's metrics belong to."""


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
