"""What a function of a table can ask about the place where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext
    from pyflink_on_spark.metrics import MetricGroup


class FunctionContext:
    """Where a user's function runs.

    Args:
        context: the operator's.
    """

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def get_metric_group(self) -> MetricGroup:
        """Return the metrics of the subtask."""
        return self._context.runtime_context.get_metrics_group()

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global parameter of the job, or a default."""
        return self._context.task.job_parameters.get(key, default_value)

    def get_task_name(self) -> str:
        """Return the name of the task."""
        return self._context.task.task_name

    def get_task_name_with_subtasks(self) -> str:
        """Return the name of the task with the subtask."""
        return self._context.task.task_name_with_subtasks

    def get_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks there are."""
        return self._context.task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks there can be."""
        return self._context.task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return the number of the subtask, from 0."""
        return self._context.task.subtask_index

    def get_attempt_number(self) -> int:
        """Return how often the job was restarted."""
        return self._context.task.attempt
