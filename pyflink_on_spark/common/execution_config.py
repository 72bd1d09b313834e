"""The execution settings of a job: a view of the configuration, with a method for each option."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._options import checkpointing, flink, own
from pyflink_on_spark._options.option import Option
from pyflink_on_spark.common.configuration import Configuration, OptionsView, values_of
from pyflink_on_spark.common.execution_mode import ExecutionMode
from pyflink_on_spark.common.input_dependency_constraint import InputDependencyConstraint
from pyflink_on_spark.common.restart_strategy import (
    RestartStrategyConfiguration,
    read_restart_strategy,
    write_restart_strategy,
)

__all__ = ["ExecutionConfig"]

_CHECKED_BY_CONFIGURE: tuple[Option[Any], ...] = (
    flink.PARALLELISM,
    flink.LATENCY_INTERVAL,
    flink.CANCELLATION_INTERVAL,
    flink.CANCELLATION_TIMEOUT,
    flink.MAX_PARALLELISM,
    flink.AUTO_WATERMARK_INTERVAL,
    flink.OBJECT_REUSE,
    flink.GLOBAL_JOB_PARAMETERS,
    flink.AUTO_GENERATE_UIDS,
    flink.CLOSURE_CLEANER_LEVEL,
    flink.FORCE_KRYO,
    flink.FORCE_AVRO,
    flink.FORCE_KRYO_AVRO,
    flink.GENERIC_TYPES,
    checkpointing.SNAPSHOT_COMPRESSION,
)


class ExecutionConfig(OptionsView):
    """The execution settings of a job; the result of ``env.get_config()``.

    Args:
        j_execution_config: the environment's ``Configuration``, where every setting is kept.
    """

    _checked = _CHECKED_BY_CONFIGURE

    PARALLELISM_DEFAULT = -1

    PARALLELISM_UNKNOWN = -2

    def __init__(self, j_execution_config: object) -> None:
        call = "ExecutionConfig(j_execution_config)"
        super().__init__(own_handle(j_execution_config, Configuration, call))

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Ask for Java closures to be cleaned. On Spark: recorded, without effect."""
        return self._write(flink.CLOSURE_CLEANER_LEVEL, "RECURSIVE")

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Ask for Java closures to be left alone. On Spark: recorded, without effect."""
        return self._write(flink.CLOSURE_CLEANER_LEVEL, "NONE")

    def is_closure_cleaner_enabled(self) -> bool:
        """True if Java closures would be cleaned."""
        return self._read(flink.CLOSURE_CLEANER_LEVEL) != "NONE"

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """Set how often watermarks are emitted.

        Args:
            interval: in ms.

        Raises:
            ValueError: it is negative.
        """
        _long(interval, "interval")
        return self._write(flink.AUTO_WATERMARK_INTERVAL, interval)

    def get_auto_watermark_interval(self) -> int:
        """Return how often watermarks are emitted, in ms."""
        return self._read(flink.AUTO_WATERMARK_INTERVAL)

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """Ask for latency markers so often, in ms. On Spark: recorded, without effect."""
        _long(interval, "interval")
        return self._write(flink.LATENCY_INTERVAL, interval)

    def get_latency_tracking_interval(self) -> int:
        """Return how often latency markers were asked for, in ms."""
        return self._read(flink.LATENCY_INTERVAL)

    def get_parallelism(self) -> int:
        """Return the parallelism of operators that set none of their own."""
        return self._read(flink.PARALLELISM)

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        """Set the parallelism of operators that set none of their own.

        Args:
            parallelism: from 1, or ``PARALLELISM_DEFAULT``; ``PARALLELISM_UNKNOWN`` changes
                nothing.

        Raises:
            ValueError: it is another number.
        """
        if _int(parallelism, "parallelism") == ExecutionConfig.PARALLELISM_UNKNOWN:
            return self
        return self._write(flink.PARALLELISM, parallelism)

    def get_max_parallelism(self) -> int:
        """Return the largest parallelism, which is the number of key groups; -1 if not set."""
        return self._read(flink.MAX_PARALLELISM)

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        """Set the largest parallelism, which is the number of key groups.

        Raises:
            ValueError: it is not positive.
        """
        _int(max_parallelism, "max_parallelism")
        return self._write(flink.MAX_PARALLELISM, max_parallelism)

    def get_task_cancellation_interval(self) -> int:
        """Return the time between attempts to cancel a task, in ms."""
        return self._read(flink.CANCELLATION_INTERVAL)

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        """Set the time between attempts to cancel a task, in ms. On Spark: no effect."""
        _long(interval, "interval")
        return self._write(flink.CANCELLATION_INTERVAL, interval)

    def get_task_cancellation_timeout(self) -> int:
        """Return how long a task may take to be cancelled, in ms."""
        return self._read(flink.CANCELLATION_TIMEOUT)

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        """Set how long a task may take to be cancelled, in ms. On Spark: no effect.

        Raises:
            ValueError: it is negative.
        """
        _long(timeout, "timeout")
        return self._write(flink.CANCELLATION_TIMEOUT, timeout)

    def enable_force_kryo(self) -> ExecutionConfig:
        """Ask for Kryo for all POJOs. On Spark: recorded, without effect."""
        return self._write(flink.FORCE_KRYO, True)

    def disable_force_kryo(self) -> ExecutionConfig:
        """Take back ``enable_force_kryo``."""
        return self._write(flink.FORCE_KRYO, False)

    def is_force_kryo_enabled(self) -> bool:
        """True if Kryo is forced."""
        return self._read(flink.FORCE_KRYO)

    def enable_generic_types(self) -> ExecutionConfig:
        """Allow types that Kryo would serialize, as by default."""
        return self._write(flink.GENERIC_TYPES, True)

    def disable_generic_types(self) -> ExecutionConfig:
        """Forbid types that Kryo would serialize. On Spark: recorded, there are none."""
        return self._write(flink.GENERIC_TYPES, False)

    def has_generic_types_disabled(self) -> bool:
        """True if types that Kryo would serialize are forbidden."""
        return not self._read(flink.GENERIC_TYPES)

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        """Let operators without a uid get one, as by default."""
        return self._write(flink.AUTO_GENERATE_UIDS, True)

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Demand a uid of every operator; of Python operators in a row, of the first.

        On Spark: keyed streams can be used, too. In PyFlink they contain an operator that cannot be
        given a uid, so that the job is refused.
        """
        return self._write(flink.AUTO_GENERATE_UIDS, False)

    def has_auto_generated_uids_enabled(self) -> bool:
        """True if operators without a uid get one."""
        return self._read(flink.AUTO_GENERATE_UIDS)

    def enable_force_avro(self) -> ExecutionConfig:
        """Ask for Avro for all POJOs. On Spark: recorded, without effect."""
        return self._write(flink.FORCE_AVRO, True)

    def disable_force_avro(self) -> ExecutionConfig:
        """Take back ``enable_force_avro``."""
        return self._write(flink.FORCE_AVRO, False)

    def is_force_avro_enabled(self) -> bool:
        """True if Avro is forced."""
        return self._read(flink.FORCE_AVRO)

    def enable_object_reuse(self) -> ExecutionConfig:
        """Allow elements to be handed on without a copy."""
        return self._write(flink.OBJECT_REUSE, True)

    def disable_object_reuse(self) -> ExecutionConfig:
        """Take back ``enable_object_reuse``."""
        return self._write(flink.OBJECT_REUSE, False)

    def is_object_reuse_enabled(self) -> bool:
        """True if elements may be passed to the next function without a copy."""
        return self._read(flink.OBJECT_REUSE)

    def get_global_job_parameters(self) -> dict[str, str]:
        """Return the parameters that user functions see."""
        return dict(self._read(flink.GLOBAL_JOB_PARAMETERS))

    def set_global_job_parameters(
        self, global_job_parameters_dict: dict[str, Any]
    ) -> ExecutionConfig:
        """Set the parameters that user functions see with ``get_job_parameter``.

        Args:
            global_job_parameters_dict: keys are str; of values that are not, ``str()`` is taken.

        Raises:
            TypeError: a key is not a str.
        """
        for key in own_handle(global_job_parameters_dict, dict, "set_global_job_parameters(dict)"):
            if not isinstance(key, str):
                raise TypeError(f"a key of the job parameters is a str, not {key!r}")
        parameters = {key: str(value) for key, value in global_job_parameters_dict.items()}
        return self._write(flink.GLOBAL_JOB_PARAMETERS, parameters)

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        """Return the classes that ``add_default_kryo_serializer`` recorded."""
        return dict(self._read(own.DEFAULT_KRYO_SERIALIZERS))

    def get_registered_kryo_types(self) -> list[str]:
        """Return the types that ``register_kryo_type`` recorded."""
        return list(self._read(flink.KRYO_TYPES))

    def get_registered_pojo_types(self) -> list[str]:
        """Return the types that ``register_pojo_type`` recorded."""
        return list(self._read(flink.POJO_TYPES))

    def is_use_snapshot_compression(self) -> bool:
        """True if checkpoints are compressed."""
        return self._read(checkpointing.SNAPSHOT_COMPRESSION)

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Set whether checkpoints are compressed.

        Raises:
            TypeError: it is not a bool.

        On Spark: recorded, without effect.
        """
        if not isinstance(use_snapshot_compression, bool):
            raise TypeError(f"use_snapshot_compression is a bool, not {use_snapshot_compression!r}")
        return self._write(checkpointing.SNAPSHOT_COMPRESSION, use_snapshot_compression)

    def set_restart_strategy(
        self, restart_strategy_configuration: RestartStrategyConfiguration
    ) -> ExecutionConfig:
        """Set what to do when the job fails. Flink 1.x; the same as ``restart-strategy.*``."""
        call = "set_restart_strategy(restart_strategy_configuration)"
        strategy = own_handle(restart_strategy_configuration, RestartStrategyConfiguration, call)
        write_restart_strategy(self._configuration, strategy)
        return self

    def get_restart_strategy(self) -> RestartStrategyConfiguration:
        """Return the strategy for restarts after failures. Flink 1.x."""
        return read_restart_strategy(self._configuration)

    def set_execution_mode(self, execution_mode: ExecutionMode) -> ExecutionConfig:
        """Set how batch programs exchange data. Flink 1.x. On Spark: recorded, no effect."""
        mode = own_handle(execution_mode, ExecutionMode, "set_execution_mode(execution_mode)")
        return self._write(own.EXECUTION_MODE, mode.name)

    def get_execution_mode(self) -> ExecutionMode:
        """Return how batch programs exchange data. Flink 1.x."""
        return ExecutionMode[self._read(own.EXECUTION_MODE)]

    def set_default_input_dependency_constraint(
        self, input_dependency_constraint: InputDependencyConstraint
    ) -> ExecutionConfig:
        """Set when a task may start. Flink 1.x. On Spark: recorded, without effect."""
        call = "set_default_input_dependency_constraint(input_dependency_constraint)"
        constraint = own_handle(input_dependency_constraint, InputDependencyConstraint, call)
        return self._write(own.INPUT_DEPENDENCY, constraint.name)

    def get_default_input_dependency_constraint(self) -> InputDependencyConstraint:
        """Return when a task may start. Flink 1.x."""
        return InputDependencyConstraint[self._read(own.INPUT_DEPENDENCY)]

    def add_default_kryo_serializer(
        self, type_class_name: str, serializer_class_name: str
    ) -> ExecutionConfig:
        """Name a Java type's default Kryo serializer. Flink 1.x. On Spark: no effect."""
        option = own.DEFAULT_KRYO_SERIALIZERS
        classes = {**self._read(option), type_class_name: serializer_class_name}
        return self._write(option, classes)

    def register_type_with_kryo_serializer(
        self, type_class_name: str, serializer_class_name: str
    ) -> ExecutionConfig:
        """Name a Java type's Kryo serializer. Flink 1.x. On Spark: recorded, no effect."""
        option = own.TYPES_WITH_KRYO_SERIALIZERS
        classes = {**self._read(option), type_class_name: serializer_class_name}
        return self._write(option, classes)

    def get_registered_types_with_kryo_serializer_classes(self) -> dict[str, str]:
        """Return the classes that ``register_type_with_kryo_serializer`` recorded. Flink 1.x."""
        return dict(self._read(own.TYPES_WITH_KRYO_SERIALIZERS))

    def register_kryo_type(self, type_class_name: str) -> ExecutionConfig:
        """Register a Java type with Kryo. Flink 1.x. On Spark: recorded, without effect."""
        return self._append(flink.KRYO_TYPES, type_class_name)

    def register_pojo_type(self, type_class_name: str) -> ExecutionConfig:
        """Register a Java type as a POJO. Flink 1.x. On Spark: recorded, without effect."""
        return self._append(flink.POJO_TYPES, type_class_name)

    def disable_auto_type_registration(self) -> ExecutionConfig:
        """Switch Kryo's registration of types off. Flink 1.x. On Spark: recorded, no effect."""
        return self._write(flink.AUTO_TYPE_REGISTRATION, False)

    def is_auto_type_registration_disabled(self) -> bool:
        """True if Kryo's registration of types is disabled. Flink 1.x."""
        return not self._read(flink.AUTO_TYPE_REGISTRATION)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self._configuration == other._configuration

    def __hash__(self) -> int:
        return hash(self._configuration)

    def _append(self, option: Option[list[str]], name: str) -> ExecutionConfig:
        names = option.read(values_of(self._configuration))
        return self._write(option, [*names, *({name} - set(names))])


def _long(value: object, name: str, bits: int = 63) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an int, not {value!r}")
    if not -(2**bits) <= value < 2**bits:
        raise OverflowError(f"{name}: {value} does not fit into {bits + 1} bits")
    return value


def _int(value: object, name: str) -> int:
    return _long(value, name, 31)


__getattr__ = missing_name(__name__)
