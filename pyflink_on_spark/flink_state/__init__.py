"""Reads checkpoints and savepoints that Flink has written, without Flink and without Java.

Example:
    ::

        from pyflink_on_spark.flink_state import FlinkCheckpoint

        checkpoint = FlinkCheckpoint("file:///savepoints/savepoint-1a2b3c-0123456789ab")
        for operator in checkpoint.metadata.operators:
            print(operator.uid or operator.name, list(checkpoint.keyed_states(operator)))
"""

from __future__ import annotations

from pyflink_on_spark.flink_state.contents import FlinkCheckpoint, is_of_flink
from pyflink_on_spark.flink_state.keyed_state import FlinkEntry, StateHeader
from pyflink_on_spark.flink_state.metadata import FlinkMetadata, FlinkOperator
from pyflink_on_spark.flink_state.serializers import FlinkWindow, Serializer, Void

__all__ = [
    "FlinkCheckpoint",
    "FlinkEntry",
    "FlinkMetadata",
    "FlinkOperator",
    "Serializer",
    "StateHeader",
    "Void",
    "FlinkWindow",
    "is_of_flink",
]
