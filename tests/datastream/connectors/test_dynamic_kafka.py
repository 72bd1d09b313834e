"""What a dynamic Kafka source is told, and that it says that nothing reads it."""

from __future__ import annotations

import re

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import SimpleStringSchema, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.dynamic_kafka import (
    DynamicKafkaSource,
    KafkaRecordDeserializationSchema,
    SingleClusterTopicMetadataService,
)
from pyflink_on_spark.datastream.connectors.kafka import KafkaOffsetsInitializer
from pyflink_on_spark.datastream.connectors.kafka.offsets import OffsetsKind


def builder():
    service = SingleClusterTopicMetadataService("main", {"bootstrap.servers": "host:9092"})
    told = DynamicKafkaSource.builder().set_kafka_metadata_service(service)
    return told.set_value_only_deserializer(SimpleStringSchema())


def test_keeps_what_it_was_told():
    told = builder().set_stream_ids({"a", "b"}).set_group_id("g").set_client_id_prefix("c")
    told.set_property("x", "y").set_properties({"z": "w"})
    told.set_starting_offsets(KafkaOffsetsInitializer.latest())
    options = told.set_bounded(KafkaOffsetsInitializer.timestamp(1)).build()._options
    assert options.streams.chosen == {"a", "b"}
    assert options.cluster.id == "main"
    assert options.starting.kind is OffsetsKind.LATEST
    assert options.stopping.timestamp == 1
    assert options.properties == {
        "group.id": "g",
        "client.id.prefix": "c",
        "x": "y",
        "z": "w",
    }


def test_pattern():
    options = builder().set_stream_pattern("s.*").build()._options
    assert options.streams.chosen == re.compile("s.*")
    with pytest.raises(ValueError, match="malformed"):
        builder().set_stream_pattern("(")


def test_what_has_to_be_set():
    with pytest.raises(ValueError, match="stream subscriber is required"):
        builder().build()
    with pytest.raises(ValueError, match="metadata service is required"):
        DynamicKafkaSource.builder().set_stream_ids({"a"}).build()


def test_the_schema_knows_its_type():
    schema = KafkaRecordDeserializationSchema.value_only(SimpleStringSchema())
    assert schema._produced_type() == Types.STRING()


def test_using_it_says_what_is_missing():
    env = StreamExecutionEnvironment.get_execution_environment()
    source = builder().set_stream_ids({"a"}).build()
    with pytest.raises(UnsupportedFlinkFeature, match="DynamicKafkaSource is not yet"):
        env.from_source(source, WatermarkStrategy.no_watermarks(), "dynamic")
