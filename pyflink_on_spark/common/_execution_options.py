"""The options behind ``ExecutionConfig``."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark.common._option import (
    Option,
    boolean_option,
    duration_option,
    int_option,
    list_option,
    map_option,
    string_option,
)
from pyflink_on_spark.common.configuration import Configuration

PARALLELISM = int_option("parallelism.default", -1)
MAX_PARALLELISM = int_option("pipeline.max-parallelism", -1)
AUTO_WATERMARK_INTERVAL = duration_option("pipeline.auto-watermark-interval", 200)
OBJECT_REUSE = boolean_option("pipeline.object-reuse", False)
GLOBAL_JOB_PARAMETERS = map_option("pipeline.global-job-parameters")
AUTO_GENERATE_UIDS = boolean_option("pipeline.auto-generate-uids", True)
CLOSURE_CLEANER_LEVEL = string_option("pipeline.closure-cleaner-level", "RECURSIVE")
LATENCY_INTERVAL = duration_option("metrics.latency.interval", 0)
CANCELLATION_INTERVAL = duration_option("task.cancellation.interval", 30_000)
CANCELLATION_TIMEOUT = duration_option("task.cancellation.timeout", 180_000)
SNAPSHOT_COMPRESSION = boolean_option("execution.checkpointing.snapshot-compression", False)
FORCE_KRYO = boolean_option("pipeline.force-kryo", False)
FORCE_AVRO = boolean_option("pipeline.force-avro", False)
GENERIC_TYPES = boolean_option("pipeline.generic-types", True)
AUTO_TYPE_REGISTRATION = boolean_option("pipeline.auto-type-registration", True)
KRYO_TYPES = list_option("pipeline.registered-kryo-types")
POJO_TYPES = list_option("pipeline.registered-pojo-types")

# What Flink keeps outside of its options; here it has a key, so that there is one place for all.
EXECUTION_MODE = string_option("pyflink-on-spark.execution-mode", "PIPELINED")
INPUT_DEPENDENCY = string_option("pyflink-on-spark.input-dependency-constraint", "ANY")
DEFAULT_KRYO_SERIALIZERS = map_option("pyflink-on-spark.default-kryo-serializers")
TYPES_WITH_KRYO_SERIALIZERS = map_option("pyflink-on-spark.types-with-kryo-serializers")

_CHECKED: tuple[Option[Any], ...] = (
    MAX_PARALLELISM,
    OBJECT_REUSE,
    GLOBAL_JOB_PARAMETERS,
    AUTO_GENERATE_UIDS,
    LATENCY_INTERVAL,
    CANCELLATION_INTERVAL,
    CANCELLATION_TIMEOUT,
    SNAPSHOT_COMPRESSION,
)


def check_execution_options(configuration: Configuration) -> None:
    """Raise if one of the options behind ``ExecutionConfig`` has a value that it cannot have.

    Raises:
        ValueError: it names the option and its value.
    """
    check_parallelism(configuration._read(PARALLELISM))
    check_auto_watermark_interval(configuration._read(AUTO_WATERMARK_INTERVAL))
    for option in _CHECKED:
        configuration._read(option)


def check_parallelism(parallelism: int) -> None:
    """Raise ValueError unless it is positive, or -1 for the default."""
    if parallelism < 1 and parallelism != -1:
        raise ValueError(
            "Parallelism must be at least one, or ExecutionConfig.PARALLELISM_DEFAULT "
            "(use system default)."
        )


def check_auto_watermark_interval(interval_ms: int) -> None:
    """Raise ValueError if it is negative."""
    if interval_ms < 0:
        raise ValueError("Auto watermark interval must not be negative.")
