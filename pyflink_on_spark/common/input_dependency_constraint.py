"""The condition under which Flink 1.x scheduled a task."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """The inputs of a task that have to be ready before it starts: any of them, or all.

    On Spark: recorded, without effect: Spark decides when a task starts.
    """

    ANY = 0
    ALL = 1


__getattr__ = missing_name(__name__)
