"""Kafka topics as sources and sinks."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee as DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.kafka.legacy import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    Semantic,
)
from pyflink_on_spark.datastream.connectors.kafka.legacy import (
    FlinkKafkaConsumerBase as FlinkKafkaConsumerBase,
)
from pyflink_on_spark.datastream.connectors.kafka.legacy import (
    FlinkKafkaProducerBase as FlinkKafkaProducerBase,
)
from pyflink_on_spark.datastream.connectors.kafka.sink import (
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaSinkBuilder,
    KafkaTopicSelector,
)
from pyflink_on_spark.datastream.connectors.kafka.source import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)

__all__ = [
    "FlinkKafkaConsumer",
    "FlinkKafkaProducer",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "Semantic",
    "KafkaTopicPartition",
    "KafkaOffsetsInitializer",
    "KafkaOffsetResetStrategy",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaTopicSelector",
]

__getattr__ = missing_name(__name__)
