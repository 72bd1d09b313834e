"""What a function of a table can ask about the place where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark.metrics import MetricGroup


class FunctionContext:
    """Where a user's function runs.

    Args:
        base_metric_group: the metrics of the subtask; None if metrics are off.
        job_parameters: the global parameters of the job.
        task_name: the name of the task.
        task_name_with_subtasks: the name of the task with the subtask.
        number_of_parallel_subtasks: how many subtasks there are.
        max_number_of_parallel_subtasks: how many subtasks there can be.
        index_of_this_subtask: the number of the subtask, from 0.
        attempt_number: how often the job was restarted.
    """

    def __init__(
        self,
        base_metric_group: MetricGroup | None,
        job_parameters: Mapping[str, str],
        task_name: str | None = None,
        task_name_with_subtasks: str | None = None,
        number_of_parallel_subtasks: int | None = None,
        max_number_of_parallel_subtasks: int | None = None,
        index_of_this_subtask: int | None = None,
        attempt_number: int | None = None,
    ) -> None:
        self._metrics = base_metric_group
        self._job_parameters = job_parameters
        self._task_name = task_name or ""
        self._task_name_with_subtasks = task_name_with_subtasks or ""
        self._parallelism = number_of_parallel_subtasks or 0
        self._max_parallelism = max_number_of_parallel_subtasks or 0
        self._subtask_index = index_of_this_subtask or 0
        self._attempt = attempt_number or 0

    def get_metric_group(self) -> MetricGroup:
        """Return the metrics of the subtask.

        Raises:
            RuntimeError: metrics are off.
        """
        if self._metrics is None:
            raise RuntimeError(
                "Metric has not been enabled. "
                "You can enable metric with the 'python.metric.enabled' configuration."
            )
        return self._metrics

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global parameter of the job, or a default."""
        return self._job_parameters.get(key, default_value)

    def get_task_name(self) -> str:
        """Return the name of the task."""
        return self._task_name

    def get_task_name_with_subtasks(self) -> str:
        """Return the name of the task with the subtask."""
        return self._task_name_with_subtasks

    def get_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks there are."""
        return self._parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return how many subtasks there can be."""
        return self._max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return the number of the subtask, from 0."""
        return self._subtask_index

    def get_attempt_number(self) -> int:
        """Return how often the job was restarted."""
        return self._attempt


def function_context(context: OperatorContext) -> FunctionContext:
    """Return what a function may know of the operator that calls it."""
    task = context.task
    return FunctionContext(
        context.runtime_context.get_metrics_group(),
        task.job_parameters,
        task.task_name,
        task.task_name_with_subtasks,
        task.parallelism,
        task.max_parallelism,
        task.subtask_index,
        task.attempt,
    )
