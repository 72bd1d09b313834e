"""The environment of a program over tables."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.table.table_environment.environment import (
    BatchTableEnvironment,
    TableEnvironment,
)
from pyflink_on_spark.table.table_environment.stream_environment import StreamTableEnvironment

__all__ = ["BatchTableEnvironment", "StreamTableEnvironment", "TableEnvironment"]

__getattr__ = missing_name(__name__)
