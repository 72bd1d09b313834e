"""The arguments of Kinesis's connectors, accepted and refused."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark._connectors.kinesis.config import Batching
from pyflink_on_spark.common import SimpleStringSchema
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.kinesis import (
    FlinkKinesisConsumer,
    KinesisDeserializationSchema,
    KinesisFirehoseSink,
    KinesisShardAssigner,
    KinesisStreamsSink,
    PartitionKeyGenerator,
    PartitionKeys,
    ShardAssignment,
    WatermarkTracker,
)

REGION = {"aws.region": "eu-west-1"}


def streams_builder():
    builder = KinesisStreamsSink.builder().set_stream_name("s")
    builder.set_serialization_schema(SimpleStringSchema())
    return builder.set_partition_key_generator(PartitionKeyGenerator.random())


def firehose_builder():
    builder = KinesisFirehoseSink.builder().set_delivery_stream_name("s")
    return builder.set_serialization_schema(SimpleStringSchema())


class TestConsumer:
    def test_keeps_what_it_was_told(self):
        consumer = FlinkKinesisConsumer(["a", "b"], SimpleStringSchema(), REGION)
        consumer.set_shard_assigner(KinesisShardAssigner.uniform_shard_assigner())
        consumer.set_watermark_tracker(WatermarkTracker.job_manager_watermark_tracker("w"))
        assert consumer._config.streams == ("a", "b")
        assert consumer._config.properties == REGION
        assert consumer._config.assignment is ShardAssignment.UNIFORM
        assert consumer._config.sharing.name == "w"
        assert consumer._config.sharing.log_interval == -1
        assert FlinkKinesisConsumer("a", SimpleStringSchema(), REGION)._config.streams == ("a",)

    @pytest.mark.parametrize(
        ("streams", "properties", "text"),
        [
            ([], REGION, "at least 1 stream"),
            (["a", ""], REGION, "empty Strings"),
            ("a", {}, "must be set in the config"),
        ],
    )
    def test_refuses(self, streams, properties, text):
        with pytest.raises(ValueError, match=text):
            FlinkKinesisConsumer(streams, SimpleStringSchema(), properties)

    def test_a_java_schema_is_refused(self):
        with pytest.raises(UnsupportedFlinkFeature, match="DeserializationSchema"):
            KinesisDeserializationSchema(object())

    def test_watermarks_of_shards_are_refused(self):
        env = StreamExecutionEnvironment.get_execution_environment()
        tracker = WatermarkTracker.job_manager_watermark_tracker("name")
        consumer = FlinkKinesisConsumer("a", SimpleStringSchema(), REGION)
        with pytest.raises(UnsupportedFlinkFeature, match=r"set_watermark_tracker.*never"):
            env.add_source(consumer.set_watermark_tracker(tracker))


class TestSinks:
    @pytest.mark.parametrize("builder", [streams_builder, firehose_builder])
    class TestBoth:
        def test_keeps_how_elements_are_gathered(self, builder):
            told = builder().set_max_batch_size(1).set_max_in_flight_requests(2)
            told.set_max_buffered_requests(3).set_max_batch_size_in_bytes(40)
            told.set_max_time_in_buffer_ms(5).set_max_record_size_in_bytes(6)
            options = told.set_fail_on_error(True).build()._config
            assert options.batching == Batching(1, 40, 5, 2, 3, 6)
            assert options.fail_on_error
            assert options.stream == "s"

        def test_numbers_go_together(self, builder):
            with pytest.raises(ValueError, match="strictly greater"):
                builder().set_max_buffered_requests(500).build()
            with pytest.raises(ValueError, match="size in bytes per flush"):
                builder().set_max_batch_size_in_bytes(10).build()
            with pytest.raises(ValueError, match="must be positive"):
                builder().set_max_in_flight_requests(0).build()

    def test_defaults_are_flinks(self):
        streams = streams_builder().build()._config
        assert streams.batching == Batching(500, 5 * 1024 * 1024, 5000, 50, 10_000, 1024 * 1024)
        firehose = firehose_builder().build()._config
        assert firehose.batching == Batching(500, 4 * 1024 * 1024, 5000, 50, 10_000, 1000 * 1024)

    def test_client_properties(self):
        streams = streams_builder().set_kinesis_client_properties(REGION).build()._config
        assert streams.properties == REGION
        assert streams.keys is PartitionKeys.RANDOM
        firehose = firehose_builder().set_firehose_client_properties(REGION).build()._config
        assert firehose.properties == REGION

    def test_what_has_to_be_set(self):
        with pytest.raises(ValueError, match="No SerializationSchema"):
            KinesisStreamsSink.builder().build()
        with pytest.raises(ValueError, match="No PartitionKeyGenerator"):
            KinesisStreamsSink.builder().set_serialization_schema(SimpleStringSchema()).build()
        with pytest.raises(ValueError, match="stream name must be set"):
            streams_builder().set_stream_name("").build()
        with pytest.raises(ValueError, match="delivery stream name must be set"):
            firehose_builder().set_delivery_stream_name("").build()
