"""When Flink 1.x scheduled a task."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Whether a task may start when any of its inputs is ready, or only when all are.

    On Spark: recorded, without effect: Spark decides when a task starts.
    """

    ANY = 0
    ALL = 1


__getattr__ = missing_name(__name__)
