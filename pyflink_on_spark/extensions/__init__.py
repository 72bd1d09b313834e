"""Extensions of PyFlink: names that Flink has in Java and Scala, for Python.

A program that uses them runs on pyflink_on_spark only.
"""

from __future__ import annotations

from pyflink_on_spark.extensions.checkpointed import (
    CheckpointedFunction,
    CheckpointListener,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    ListCheckpointed,
    OperatorStateStore,
)
from pyflink_on_spark.extensions.functions import (
    DataGeneratorSource,
    GeneratorFunction,
    ParallelSourceFunction,
    RateLimiterStrategy,
    RichParallelSourceFunction,
    RichSinkFunction,
    RichSourceFunction,
    SinkContext,
    SinkFunction,
    SourceContext,
    SourceFunction,
    add_sink,
    add_source,
)
from pyflink_on_spark.extensions.progress import (
    JobProgress,
    TaskProgress,
    job_progress,
    on_progress,
)
from pyflink_on_spark.extensions.sinks import bucket_assigner, jdbc_exactly_once_sink
from pyflink_on_spark.extensions.spark_frames import from_spark, to_spark
from pyflink_on_spark.extensions.state import (
    FoldFunction,
    FoldingState,
    FoldingStateDescriptor,
    SortedMapState,
    SortedMapStateDescriptor,
    filter_with_state,
    flat_map_with_state,
    get_folding_state,
    get_sorted_map_state,
    map_with_state,
)

__all__ = [
    "CheckpointListener",
    "CheckpointedFunction",
    "DataGeneratorSource",
    "FoldFunction",
    "FoldingState",
    "FoldingStateDescriptor",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "GeneratorFunction",
    "JobProgress",
    "ListCheckpointed",
    "OperatorStateStore",
    "ParallelSourceFunction",
    "RateLimiterStrategy",
    "RichParallelSourceFunction",
    "RichSinkFunction",
    "RichSourceFunction",
    "SinkContext",
    "SinkFunction",
    "SortedMapState",
    "SortedMapStateDescriptor",
    "SourceContext",
    "SourceFunction",
    "TaskProgress",
    "add_sink",
    "add_source",
    "bucket_assigner",
    "filter_with_state",
    "flat_map_with_state",
    "from_spark",
    "get_folding_state",
    "get_sorted_map_state",
    "jdbc_exactly_once_sink",
    "job_progress",
    "map_with_state",
    "on_progress",
    "to_spark",
]
