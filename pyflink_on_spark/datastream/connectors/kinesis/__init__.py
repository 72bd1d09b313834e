"""Kinesis data streams and Firehose as sources and sinks."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.connectors.kinesis.consumer import (
    FlinkKinesisConsumer,
    KinesisDeserializationSchema,
    KinesisShardAssigner,
    WatermarkTracker,
)
from pyflink_on_spark.datastream.connectors.kinesis.firehose import (
    KinesisFirehoseSink,
    KinesisFirehoseSinkBuilder,
)
from pyflink_on_spark.datastream.connectors.kinesis.streams import (
    KinesisStreamsSink,
    KinesisStreamsSinkBuilder,
    PartitionKeyGenerator,
)

__all__ = [
    "KinesisShardAssigner",
    "KinesisDeserializationSchema",
    "WatermarkTracker",
    "PartitionKeyGenerator",
    "FlinkKinesisConsumer",
    "KinesisStreamsSink",
    "KinesisStreamsSinkBuilder",
    "KinesisFirehoseSink",
    "KinesisFirehoseSinkBuilder",
]

__getattr__ = missing_name(__name__)
