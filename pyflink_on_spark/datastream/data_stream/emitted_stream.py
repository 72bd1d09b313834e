"""What can be set for the operator that emits a stream."""

from __future__ import annotations

from typing import Self

from pyflink_on_spark._graph.transformation import Chaining
from pyflink_on_spark.common import ExecutionConfig
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TypeInformation
from pyflink_on_spark.datastream.data_stream.flow import Flow
from pyflink_on_spark.datastream.data_stream.parallelism import (
    checked_max_parallelism,
    checked_parallelism,
)
from pyflink_on_spark.datastream.data_stream.sink import checked_hash, group_name
from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup


class EmittedStream:
    """A stream as its operator emits it: the operator's settings, and the elements' type."""

    _flow: Flow

    def get_name(self) -> str:
        """Return the operator's name."""
        return self._flow.transformation.name

    def name(self, name: str) -> Self:
        """Set the operator's name, which plans and messages show."""
        self._flow.transformation.name = name
        return self

    def uid(self, uid: str) -> Self:
        """Set the stable name of the operator's state, by which a savepoint finds it."""
        self._flow.transformation.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Set the hash of the operator's state directly.

        Args:
            uid_hash: 32 hexadecimal digits.

        Raises:
            ValueError: it is something else.

        On Spark: it takes the place of the uid, and no two operators can have the same one.
        """
        self._flow.transformation.uid_hash = checked_hash(uid_hash)
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        """Set how many subtasks the operator has.

        Args:
            parallelism: from 1; -1 for the environment's parallelism.

        Raises:
            TypeError: it is no int.
            ValueError: it is another number, or more than 1 where there can be only one subtask.
        """
        transformation = self._flow.transformation
        transformation.parallelism = checked_parallelism(parallelism, transformation.parallel)
        return self

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the operator's number of key groups, above which its parallelism cannot grow.

        Raises:
            TypeError: it is no int.
            ValueError: it is not from 1 to 32768.
        """
        self._flow.transformation.max_parallelism = checked_max_parallelism(max_parallelism)
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
        self._flow.transformation.parallel = False
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long (ms) the operator may hold back elements.

        On Spark: recorded; a micro-batch is handed on as a whole.
        """
        self._flow.transformation.buffer_timeout = timeout_millis
        return self

    def start_new_chain(self) -> Self:
        """Let a new task begin with the operator.

        On Spark: it shows in the task's names only; what can run without an exchange still does.
        """
        self._flow.transformation.chaining = Chaining.HEAD
        return self

    def disable_chaining(self) -> Self:
        """Let the operator be a task of its own.

        On Spark: it shows in the task's names only; what can run without an exchange still does.
        """
        self._flow.transformation.chaining = Chaining.NEVER
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Set the operator's slot sharing group.

        On Spark: there are no slots; it only decides which operators would be chained.
        """
        self._flow.transformation.slot_sharing_group = group_name(slot_sharing_group)
        return self

    def set_description(self, description: str) -> Self:
        """Set the text that the execution plan shows for the operator."""
        self._flow.transformation.description = description
        return self
