"""The settings of batch programs."""

from __future__ import annotations

import os

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.recorded import note_recorded
from pyflink_on_spark.common import ExecutionConfig, JobExecutionResult
from pyflink_on_spark.common.restart_strategy import RestartStrategyConfiguration
from pyflink_on_spark.datastream import StreamExecutionEnvironment

__all__ = ["ExecutionEnvironment"]

_NO_SINKS = (
    "No new data sinks have been defined since the last execution. The jobs of a "
    "BatchTableEnvironment are run by its own execute(job_name)."
)
_NO_SERIALIZERS = "elements are pickled"


class ExecutionEnvironment:
    """The settings of a BatchTableEnvironment: Python has no operations on data sets.

    Args:
        j_execution_environment: a StreamExecutionEnvironment; use ``get_execution_environment``.

    Example:
        >>> from pyflink_on_spark.dataset import ExecutionEnvironment
        >>> from pyflink_on_spark.table import BatchTableEnvironment
        >>> exec_env = ExecutionEnvironment.get_execution_environment()
        >>> exec_env.set_parallelism(1)
        >>> t_env = BatchTableEnvironment.create(exec_env)
    """

    def __init__(self, j_execution_environment):
        self._environment: StreamExecutionEnvironment = j_execution_environment
        self._local_parallelism = os.cpu_count() or 1

    def get_parallelism(self) -> int:
        """Return how many subtasks operators have."""
        return self._environment.get_parallelism()

    def set_parallelism(self, parallelism: int):
        """Set how many subtasks operators have."""
        self._environment.set_parallelism(parallelism)

    def get_default_local_parallelism(self) -> int:
        """Return the parallelism of local environments that set none."""
        return self._local_parallelism

    def set_default_local_parallelism(self, parallelism: int):
        """Set the parallelism of local environments that set none. On Spark: recorded."""
        note_recorded("set_default_local_parallelism(...)", "use set_parallelism")
        self._local_parallelism = parallelism

    def get_config(self) -> ExecutionConfig:
        """Return the options of jobs."""
        return self._environment.get_config()

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration):
        """Set what happens after a failure."""
        self._environment.set_restart_strategy(restart_strategy_configuration)

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return the strategy of restarts after a failure."""
        return self._environment.get_restart_strategy()

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str):
        """Choose a serializer of Java. On Spark: no effect."""
        note_recorded("add_default_kryo_serializer(...)", _NO_SERIALIZERS)

    def register_type_with_kryo_serializer(self, type_class_name: str, serializer_class_name: str):
        """Choose a serializer of Java. On Spark: no effect."""
        note_recorded("register_type_with_kryo_serializer(...)", _NO_SERIALIZERS)

    def register_type(self, type_class_name: str):
        """Announce a class of Java. On Spark: no effect."""
        note_recorded("register_type(...)", _NO_SERIALIZERS)

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the data sinks, of which Python can define none.

        Raises:
            RuntimeError: always, as in PyFlink.
        """
        raise RuntimeError(_NO_SINKS)

    def get_execution_plan(self) -> str:
        """Return the plan of the data sinks, of which Python can define none.

        Raises:
            RuntimeError: always, as in PyFlink.
        """
        raise RuntimeError(_NO_SINKS)

    @staticmethod
    def get_execution_environment() -> ExecutionEnvironment:
        """Return a new environment."""
        return ExecutionEnvironment(StreamExecutionEnvironment.get_execution_environment())


__getattr__ = missing_name(__name__)
