"""The part that all of the API shares: types, rows, time, configuration, jobs, serialization."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common import serialization
from pyflink_on_spark.common.completable_future import CompletableFuture
from pyflink_on_spark.common.config_options import ConfigOption, ConfigOptions
from pyflink_on_spark.common.configuration import Configuration
from pyflink_on_spark.common.execution_config import ExecutionConfig
from pyflink_on_spark.common.execution_mode import ExecutionMode
from pyflink_on_spark.common.input_dependency_constraint import InputDependencyConstraint
from pyflink_on_spark.common.job_client import JobClient
from pyflink_on_spark.common.job_execution_result import JobExecutionResult
from pyflink_on_spark.common.job_id import JobID
from pyflink_on_spark.common.job_status import JobStatus
from pyflink_on_spark.common.restart_strategy import (
    RestartStrategies,
    RestartStrategyConfiguration,
)
from pyflink_on_spark.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    SerializationSchema,
    SimpleStringSchema,
)
from pyflink_on_spark.common.serializer import TypeSerializer
from pyflink_on_spark.common.time import Duration, Instant, Time
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.common.types import Row, RowKind
from pyflink_on_spark.common.watermark_strategy import (
    AssignerWithPeriodicWatermarksWrapper,
    WatermarkStrategy,
)

__all__ = [
    "Configuration",
    "ConfigOption",
    "ConfigOptions",
    "ExecutionConfig",
    "ExecutionMode",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "SerializationSchema",
    "DeserializationSchema",
    "SimpleStringSchema",
    "ByteArraySchema",
    "Encoder",
    "CompletableFuture",
    "InputDependencyConstraint",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "WatermarkStrategy",
    "Duration",
    "Instant",
    "Time",
    "AssignerWithPeriodicWatermarksWrapper",
]


def __getattr__(name: str) -> Any:
    # The row schemas of 1.x: they live in datastream.formats, which is not to be loaded for them.
    if name in serialization.MOVED:
        return getattr(serialization, name)
    return missing_name(__name__)(name)
