"""The context of a user function, the argument of ``open``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

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
