"""The environment in which a program is built and executed."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.stream_execution_environment.environment import (
    StreamExecutionEnvironment,
)

__all__ = ["StreamExecutionEnvironment"]

__getattr__ = missing_name(__name__)
