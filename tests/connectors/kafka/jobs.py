"""Pieces of jobs that read and write Kafka."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark.common import SimpleStringSchema, WatermarkStrategy
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
)


def reading(servers: str, *topics: str, schema: Any = None) -> KafkaSourceBuilder:
    """Return a source of all records that there are."""
    builder = KafkaSource.builder().set_bootstrap_servers(servers)
    if topics:
        builder.set_topics(*topics)
    builder.set_value_only_deserializer(schema or SimpleStringSchema())
    return builder.set_bounded(KafkaOffsetsInitializer.latest())


def elements(env: Any, builder: KafkaSourceBuilder, strategy: Any = None) -> list[Any]:
    """Run a job that only reads."""
    strategy = strategy or WatermarkStrategy.for_monotonous_timestamps()
    with env.from_source(builder.build(), strategy, "kafka").execute_and_collect() as found:
        return list(found)


def writing(
    servers: str, topic: str, guarantee: Any = DeliveryGuarantee.NONE, **properties: str
) -> KafkaSink:
    """Return a sink of texts; in names of properties stands ``_`` for a dot."""
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
    schema.set_value_serialization_schema(SimpleStringSchema())
    builder = KafkaSink.builder().set_bootstrap_servers(servers).set_delivery_guarantee(guarantee)
    for key, value in properties.items():
        builder.set_property(key.replace("_", "."), value)
    builder.set_transactional_id_prefix(f"of-{topic}")
    return builder.set_record_serializer(schema.build()).build()
