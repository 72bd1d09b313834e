"""The exchange modes of batch programs in Flink 1.x."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["ExecutionMode"]


class ExecutionMode(Enum):
    """Flink 1.x's data exchange of a batch program: pipelined or in blocks.

    On Spark: recorded, without effect: Spark decides how data is exchanged.
    """

    PIPELINED = 0
    PIPELINED_FORCED = 1
    BATCH = 2
    BATCH_FORCED = 3


__getattr__ = missing_name(__name__)
