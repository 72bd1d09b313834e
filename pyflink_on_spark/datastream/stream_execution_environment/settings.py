"""The general settings of an environment: parallelism, mode, chaining, time, serializers."""

from __future__ import annotations

import os
from typing import ClassVar, Self

from pyflink_on_spark._options import flink
from pyflink_on_spark.common import Configuration, ExecutionConfig
from pyflink_on_spark.common.configuration import values_of
from pyflink_on_spark.datastream.data_stream.parallelism import checked_max_parallelism
from pyflink_on_spark.datastream.execution_mode import RuntimeExecutionMode
from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup
from pyflink_on_spark.datastream.time_characteristic import TimeCharacteristic

_NO_BUFFER_TIMEOUT = -1


class GeneralSettings:
    """The part of an environment that holds settings of any kind.

    Args:
        configuration: where they are kept.
    """

    _default_parallelism: ClassVar[int | None] = None

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}
        self._time_characteristic = TimeCharacteristic.EventTime

    def get_config(self) -> ExecutionConfig:
        """Return the execution config, a view of the configuration."""
        return ExecutionConfig(self._configuration)

    def get_parallelism(self) -> int:
        """Return the parallelism of operators that set none of their own."""
        chosen = self.get_config().get_parallelism()
        return chosen if chosen > 0 else self.get_default_local_parallelism()

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the parallelism of operators that set none of their own."""
        self.get_config().set_parallelism(parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return the number of key groups of operators that set none; -1 if it was not set."""
        return self.get_config().get_max_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups of operators that set none of their own.

        Raises:
            TypeError: it is no int.
            ValueError: it is not from 1 to 32768.
        """
        self.get_config().set_max_parallelism(checked_max_parallelism(max_parallelism))
        return self

    def get_default_local_parallelism(self) -> int:
        """Return the parallelism where none was set: the number of cores."""
        return self._default_parallelism or os.cpu_count() or 1

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Set the parallelism for this process where none was set."""
        GeneralSettings._default_parallelism = parallelism

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Choose STREAMING, BATCH or AUTOMATIC: BATCH if every source ends."""
        flink.RUNTIME_MODE.write(values_of(self._configuration), execution_mode.name)
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long (ms) operators may hold back elements.

        On Spark: recorded; a buffer is sent when it is full or its subtask is idle, or after
        about 100 ms.
        """
        if timeout_millis < _NO_BUFFER_TIMEOUT:
            raise ValueError("Timeout of buffer must be non-negative or -1")
        if timeout_millis == _NO_BUFFER_TIMEOUT:
            flink.BUFFER_TIMEOUT_ENABLED.write(values_of(self._configuration), False)
        else:
            flink.BUFFER_TIMEOUT.write(values_of(self._configuration), timeout_millis)
        return self

    def get_buffer_timeout(self) -> int:
        """Return how long operators may hold back elements, in ms; -1: until a buffer is full."""
        if not flink.BUFFER_TIMEOUT_ENABLED.read(values_of(self._configuration)):
            return _NO_BUFFER_TIMEOUT
        return flink.BUFFER_TIMEOUT.read(values_of(self._configuration))

    def disable_operator_chaining(self) -> Self:
        """Let each operator be a task of its own.

        On Spark: it shows in the tasks' names only; what can run without an exchange still does.
        """
        flink.OPERATOR_CHAINING.write(values_of(self._configuration), False)
        return self

    def is_chaining_enabled(self) -> bool:
        """True if operators are chained into tasks."""
        return flink.OPERATOR_CHAINING.read(values_of(self._configuration))

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        """True if operators with different numbers of key groups are chained."""
        return flink.MIXED_CHAINING.read(values_of(self._configuration))

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Make a slot sharing group known. On Spark: recorded, no effect."""
        self._slot_sharing_groups[slot_sharing_group.get_name()] = slot_sharing_group
        return self

    def set_stream_time_characteristic(self, characteristic: TimeCharacteristic) -> Self:
        """Choose the kind of time (removed in Flink 2; event time is the default since 1.12)."""
        self._time_characteristic = characteristic
        if characteristic is TimeCharacteristic.ProcessingTime:
            self.get_config().set_auto_watermark_interval(0)
        return self

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """Return the kind of time (removed in Flink 2)."""
        return self._time_characteristic

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """Name a Java serializer. On Spark: recorded; elements are Python objects."""
        self.get_config().add_default_kryo_serializer(type_class_name, serializer_class_name)

    def register_type_with_kryo_serializer(
        self, type_class_name: str, serializer_class_name: str
    ) -> None:
        """Name a Java serializer. On Spark: recorded; elements are Python objects."""
        config = self.get_config()
        config.register_type_with_kryo_serializer(type_class_name, serializer_class_name)

    def register_type(self, type_class_name: str) -> None:
        """Name a Java type. On Spark: recorded; elements are Python objects."""
        self.get_config().register_pojo_type(type_class_name)

    def _explicit_parallelism(self) -> int | None:
        chosen = self.get_config().get_parallelism()
        return chosen if chosen > 0 else None
