"""The execution mode of a job: as a stream or as a batch."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """The execution mode of a job.

    STREAMING emits results as elements come, BATCH only final ones, sorted by key and time;
    AUTOMATIC is BATCH if all sources are bounded.
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2


__getattr__ = missing_name(__name__)
