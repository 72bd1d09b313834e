"""The settings of the operator that emits a stream."""

from __future__ import annotations

from typing import Self

from pyflink_on_spark._graph.transformation import Chaining, Transformation
from pyflink_on_spark.common import ExecutionConfig
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TypeInformation
from pyflink_on_spark.datastream.data_stream.flow import Flow
from pyflink_on_spark.datastream.data_stream.operator_settings import OperatorSettings
from pyflink_on_spark.datastream.data_stream.parallelism import checked_max_parallelism

_NO_BUFFER_TIMEOUT = -1


class EmittedStream(OperatorSettings):
    """A stream as its operator emits it: the operator's settings, and the elements' type."""

    _flow: Flow

    @property
    def _transformation(self) -> Transformation:
        return self._flow.transformation

    def get_name(self) -> str:
        """Return the operator's name."""
        return self._transformation.name

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the operator's number of key groups, above which its parallelism cannot grow.

        Raises:
            TypeError: it is no int.
            ValueError: it is not from 1 to 32768.
        """
        self._transformation.max_parallelism = checked_max_parallelism(max_parallelism)
        return self

    def get_type(self) -> TypeInformation:
        """Return the type of the elements."""
        type_info = self._flow.type_info
        if isinstance(type_info, RowTypeInfo):
            types = type_info.get_field_types()
            names = type_info._field_names or [f"f{index}" for index in range(len(types))]
            return RowTypeInfo(types, list(names))
        return type_info

    def get_execution_environment(self):
        """Return the environment that the stream belongs to."""
        return self._flow.environment

    def get_execution_config(self) -> ExecutionConfig:
        """Return the environment's execution config."""
        return self._flow.environment.get_config()

    def force_non_parallel(self) -> Self:
        """Make the operator one that can have only one subtask."""
        self._transformation.parallel = False
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long the operator may hold back elements.

        Args:
            timeout_millis: in ms; -1 until a buffer is full.

        Raises:
            ValueError: the timeout is less than -1.

        On Spark: recorded; a buffer is sent when it is full or its subtask is idle, or after
        about 100 ms.
        """
        if timeout_millis < _NO_BUFFER_TIMEOUT:
            raise ValueError("timeout must be >= -1")
        return self

    def start_new_chain(self) -> Self:
        """Let a new task begin with the operator.

        On Spark: only the names of tasks change; operators that need no exchange still run
        together.
        """
        self._transformation.chaining = Chaining.HEAD
        return self
