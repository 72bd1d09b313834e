"""The environment of batch programs, as PyFlink has it until 1.13."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.dataset.execution_environment import ExecutionEnvironment

__all__ = ["ExecutionEnvironment"]

__getattr__ = missing_name(__name__)
