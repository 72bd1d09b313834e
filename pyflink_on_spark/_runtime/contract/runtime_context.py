"""What the user's functions get in ``open``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.task_info import TaskInfo
from pyflink_on_spark._runtime.elements.clock import Clock, SystemClock
from pyflink_on_spark._runtime.metrics.group import OperatorMetrics
from pyflink_on_spark.metrics import MetricGroup

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


class RuntimeContext:
    """Tells a function where it runs, and gives it its state.

    Args:
        task: who the subtask is.
        keyed_state: the state of the subtask's keys; None outside keyed streams.
        clock: processing time.
    """

    def __init__(
        self,
        task: TaskInfo,
        keyed_state: KeyedStateBackend | None,
        clock: Clock | None = None,
    ) -> None:
        self._task = task
        self._keyed_state = keyed_state
        self._clock = clock or SystemClock()
        self.metrics: OperatorMetrics | None = None
        """The operator's metrics, once somebody has asked for its metrics group."""

    def withhold_state(self) -> None:
        """Give no state from now on: the function does not run with a current key."""
        self._keyed_state = None

    def get_task_name(self) -> str:
        """Return the name of the task."""
        return self._task.task_name

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism."""
        return self._task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the number of key groups."""
        return self._task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Return the index of the subtask, from 0."""
        return self._task.subtask_index

    def get_attempt_number(self) -> int:
        """Return how often the job was restarted, from 0."""
        return self._task.attempt

    def get_task_name_with_subtasks(self) -> str:
        """Return the name with the subtask from 1, the parallelism and the attempt."""
        return self._task.task_name_with_subtasks

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return one of the user's global job parameters."""
        return self._task.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        """Return where the function registers its metrics.

        On Spark: their values are the job's accumulators, under the names of the groups and the
        metric with dots between: counters add up over the subtasks, meters give count and rate,
        distributions count, sum, min, max and mean, and of a gauge it is the value in the last
        subtask. PyFlink shows them in Flink's web interface only.
        """
        if self.metrics is None:
            self.metrics = OperatorMetrics(self._clock)
        return self.metrics.group

    def get_state(self, state_descriptor: Any) -> Any:
        """Return the current key's single value."""
        return _of_key(self._keyed().value_state(state_descriptor))

    def get_list_state(self, state_descriptor: Any) -> Any:
        """Return the current key's list."""
        return _of_key(self._keyed().list_state(state_descriptor))

    def get_map_state(self, state_descriptor: Any) -> Any:
        """Return the current key's map."""
        return _of_key(self._keyed().map_state(state_descriptor))

    def get_reducing_state(self, state_descriptor: Any) -> Any:
        """Return the current key's reduced value."""
        return _of_key(self._keyed().reducing_state(state_descriptor))

    def get_aggregating_state(self, state_descriptor: Any) -> Any:
        """Return the current key's aggregate."""
        return _of_key(self._keyed().aggregating_state(state_descriptor))

    def _keyed(self) -> KeyedStateBackend:
        if self._keyed_state is None:
            raise RuntimeError(
                "This state is only accessible by functions executed on a KeyedStream: "
                f"call key_by() before this operator (task {self._task.task_name!r})"
            )
        return self._keyed_state


def _of_key(state: Any) -> Any:
    """Return a state as that of the key alone, if it was used as that of a window before."""
    state.set_current_namespace(None)
    return state
