"""The arguments of the Kafka connectors, accepted and refused; unusable ones fail when used."""

from __future__ import annotations

import time

import pytest

from pyflink_on_spark._connectors.kafka.config import Guarantee, OffsetRule, Subscription
from pyflink_on_spark.common import Encoder, Row, SimpleStringSchema, Types, WatermarkStrategy
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee, StreamTransformer
from pyflink_on_spark.datastream.connectors.file_system import FileSink
from pyflink_on_spark.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
    KafkaTopicSelector,
)

SERVERS = {"bootstrap.servers": "broker:9092"}


def source_builder():
    builder = KafkaSource.builder().set_bootstrap_servers("broker:9092")
    return builder.set_topics("a", "b").set_value_only_deserializer(SimpleStringSchema())


def record_serializer():
    builder = KafkaRecordSerializationSchema.builder().set_topic("out")
    return builder.set_value_serialization_schema(SimpleStringSchema()).build()


class TestSource:
    def test_keeps_what_it_was_told(self):
        built = (
            source_builder()
            .set_group_id("group")
            .set_client_id_prefix("prefix")
            .set_property("fetch.min.bytes", "1")
            .set_properties({"fetch.max.bytes": "2"})
            .set_starting_offsets(KafkaOffsetsInitializer.latest())
            .set_bounded(KafkaOffsetsInitializer.timestamp(5))
            .build()
        )
        config = built._config
        assert config.subscription == Subscription(topics=("a", "b"))
        assert config.starting == OffsetRule("latest", "latest")
        assert config.stopping.timestamp == 5
        assert config.bounded
        assert config.properties == {
            **SERVERS,
            "group.id": "group",
            "client.id.prefix": "prefix",
            "fetch.min.bytes": "1",
            "fetch.max.bytes": "2",
        }

    def test_reads_all_for_ever_unless_told_otherwise(self):
        config = source_builder().build()._config
        assert config.starting.kind == "earliest"
        assert config.stopping is None
        assert not config.bounded

    def test_set_unbounded_ends_but_counts_as_unbounded(self):
        builder = source_builder().set_bounded(KafkaOffsetsInitializer.latest())
        config = builder.set_unbounded(KafkaOffsetsInitializer.earliest()).build()._config
        assert config.stopping.kind == "earliest"
        assert not config.bounded

    def test_a_built_source_does_not_see_what_the_builder_is_told_later(self):
        builder = source_builder()
        built = builder.build()
        builder.set_property("later", "1")
        assert "later" not in built._config.properties

    def test_pattern_and_partitions(self):
        serving = KafkaSource.builder().set_bootstrap_servers("x:1")
        serving.set_value_only_deserializer(SimpleStringSchema())
        by_pattern = serving.set_topic_pattern("t.*").build()
        assert by_pattern._config.subscription == Subscription(pattern="t.*")
        partitions = {KafkaTopicPartition("t", 0), KafkaTopicPartition("t", 1)}
        serving._subscription = None
        wanted = Subscription(partitions=frozenset({("t", 0), ("t", 1)}))
        assert serving.set_partitions(partitions).build()._config.subscription == wanted

    @pytest.mark.parametrize(
        "second",
        [
            lambda builder: builder.set_topics("c"),
            lambda builder: builder.set_topic_pattern("c"),
            lambda builder: builder.set_partitions({KafkaTopicPartition("c", 0)}),
        ],
    )
    def test_refuses_a_second_subscription(self, second):
        with pytest.raises(ValueError, match="because topics are already set"):
            second(source_builder())

    def test_refuses_a_malformed_pattern(self):
        with pytest.raises(ValueError, match="malformed"):
            KafkaSource.builder().set_topic_pattern("(")

    def test_refuses_to_build_without_servers(self):
        builder = KafkaSource.builder().set_topics("a")
        builder.set_value_only_deserializer(SimpleStringSchema())
        with pytest.raises(ValueError, match=r"bootstrap\.servers is required"):
            builder.build()

    def test_refuses_to_build_without_topics(self):
        builder = KafkaSource.builder().set_bootstrap_servers("x:1")
        builder.set_value_only_deserializer(SimpleStringSchema())
        with pytest.raises(ValueError, match="No subscribe mode"):
            builder.build()

    def test_refuses_to_build_without_deserializer(self):
        with pytest.raises(ValueError, match="Deserialization schema is required"):
            KafkaSource.builder().set_bootstrap_servers("x:1").set_topics("a").build()

    @pytest.mark.parametrize("key", ["enable.auto.commit", "commit.offsets.on.checkpoint"])
    def test_committing_needs_a_group(self, key):
        builder = source_builder().set_property(key, "true")
        with pytest.raises(ValueError, match=r"group\.id is required"):
            builder.build()
        builder.set_group_id("group").build()

    def test_committed_offsets_need_a_group(self):
        builder = source_builder()
        builder.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets())
        with pytest.raises(ValueError, match=r"group\.id is required"):
            builder.build()
        builder.set_group_id("group").build()

    def test_properties_are_texts(self):
        with pytest.raises(TypeError, match=r"'fetch\.min\.bytes' is set to an? int"):
            source_builder().set_property("fetch.min.bytes", 1)

    def test_topics_are_texts(self):
        with pytest.raises(TypeError, match="takes str, not list"):
            KafkaSource.builder().set_topics(["a", "b"])

    def test_shows_no_password(self):
        built = source_builder().set_property("sasl.password", "secret").build()
        assert "secret" not in repr(built._config)


class TestOffsets:
    def test_given_offsets(self):
        given = {KafkaTopicPartition("t", 1): 10}
        rule = KafkaOffsetsInitializer.offsets(given)._rule
        assert rule.specified == {("t", 1): 10}
        assert rule.reset == "earliest"

    def test_committed_offsets_fail_without_any_unless_told_otherwise(self):
        rule = KafkaOffsetsInitializer.committed_offsets()._rule
        assert rule.reset == "none"

    def test_partitions_are_equal_by_value(self):
        assert KafkaTopicPartition("t", 1) == KafkaTopicPartition("t", 1)
        assert hash(KafkaTopicPartition("t", 1)) == hash(KafkaTopicPartition("t", 1))
        assert KafkaTopicPartition("t", 1) != KafkaTopicPartition("t", 2)
        assert KafkaTopicPartition("t", 1) != ("t", 1)


class TestRecordSerialization:
    def test_needs_a_topic_and_a_value_format(self):
        builder = KafkaRecordSerializationSchema.builder()
        with pytest.raises(ValueError, match="No value serializer"):
            builder.build()
        builder.set_value_serialization_schema(SimpleStringSchema())
        with pytest.raises(ValueError, match="No topic selector"):
            builder.build()

    def test_refuses_to_be_told_twice(self):
        builder = KafkaRecordSerializationSchema.builder().set_topic("t")
        with pytest.raises(ValueError, match="Topic selector already set"):
            builder.set_topic_selector(str)
        builder.set_key_serialization_schema(SimpleStringSchema())
        with pytest.raises(ValueError, match="Key serializer already set"):
            builder.set_key_serialization_schema(SimpleStringSchema())

    def test_refuses_a_selector_that_is_none(self):
        with pytest.raises(TypeError, match="topic_selector must be KafkaTopicSelector or a call"):
            KafkaRecordSerializationSchema.builder().set_topic_selector("t")

    @pytest.mark.parametrize("kind", ["function", "object"])
    def test_a_selector_is_a_step_in_front_of_the_sink(self, kind):
        class ByLength(KafkaTopicSelector):
            def apply(self, data):
                return f"topic-{len(data)}"

        selector = ByLength() if kind == "object" else lambda data: f"topic-{len(data)}"
        builder = KafkaRecordSerializationSchema.builder().set_topic_selector(selector)
        schema = builder.set_value_serialization_schema(SimpleStringSchema()).build()
        sink = KafkaSink.builder().set_bootstrap_servers("x:1").set_record_serializer(schema)
        transformer = sink.build().get_transformer()
        applied = {}

        class Stream:
            def get_type(self):
                return Types.STRING()

            def map(self, function, output_type):
                applied.update(result=function("abc"), type=output_type)

        transformer.apply(Stream())
        assert applied["result"] == Row("topic-3", "abc")
        assert applied["type"] == Types.ROW([Types.STRING(), Types.STRING()])


def test_a_sink_gets_what_its_step_makes(tmp_path):
    class Lengths(StreamTransformer):
        def apply(self, ds):
            return ds.map(len, output_type=Types.INT()).name("lengths")

    file_sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    env = StreamExecutionEnvironment.get_execution_environment()
    added = env.from_collection(["abc"], Types.STRING()).sink_to(
        FileSink(file_sink.get_java_function(), Lengths())
    )
    (edge,) = added._transformation.edges
    assert edge.upstream.name == "lengths"


class TestSink:
    def test_keeps_what_it_was_told(self):
        sink = (
            KafkaSink.builder()
            .set_bootstrap_servers("broker:9092")
            .set_property("acks", "all")
            .set_record_serializer(record_serializer())
            .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .set_transactional_id_prefix("job")
            .build()
        )
        assert sink._config.records.topic == "out"
        assert sink._config.guarantee is Guarantee.EXACTLY_ONCE
        assert sink._config.transactional_id == "job"
        assert sink._config.properties == {**SERVERS, "acks": "all"}
        assert sink.get_transformer() is None

    def test_exactly_once_needs_a_prefix(self):
        builder = KafkaSink.builder().set_bootstrap_servers("x:1")
        builder.set_record_serializer(record_serializer())
        builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        with pytest.raises(ValueError, match="requires a transactionalIdPrefix"):
            builder.build()

    def test_needs_servers_and_a_serializer(self):
        with pytest.raises(ValueError, match="bootstrapServers"):
            KafkaSink.builder().set_record_serializer(record_serializer()).build()
        with pytest.raises(ValueError, match="recordSerializer"):
            KafkaSink.builder().set_bootstrap_servers("x:1").build()

    def test_refuses_a_prefix_that_is_too_long(self):
        KafkaSink.builder().set_transactional_id_prefix("x" * 64_000)
        with pytest.raises(ValueError, match="prefix is too long"):
            KafkaSink.builder().set_transactional_id_prefix("é" * 32_001)


class TestLegacy:
    @pytest.fixture
    def consumer(self):
        with pytest.deprecated_call(match="KafkaSource"):
            return FlinkKafkaConsumer("t", SimpleStringSchema(), SERVERS)

    @pytest.fixture
    def producer(self):
        with pytest.deprecated_call(match="KafkaSink"):
            return FlinkKafkaProducer("t", SimpleStringSchema(), SERVERS)

    def test_consumer_keeps_what_it_was_told(self, consumer):
        assert consumer._config.subscription == Subscription(topics=("t",))
        assert consumer._config.starting == OffsetRule("committed", "latest")
        assert consumer._config.commits_on_checkpoints
        assert not consumer._config.keeps_restored
        consumer.set_start_from_earliest().set_commit_offsets_on_checkpoints(False)
        consumer.disable_filter_restored_partitions_with_subscribed_topics()
        assert consumer._config.starting.kind == "earliest"
        assert not consumer._config.commits_on_checkpoints
        assert consumer._config.keeps_restored
        assert consumer.set_start_from_latest()._config.starting.kind == "latest"
        assert consumer.set_start_from_timestamp(1)._config.starting.timestamp == 1
        assert consumer.set_start_from_group_offsets()._config.starting.kind == "committed"
        assert consumer.get_produced_type() == Types.STRING()

    def test_consumer_takes_no_future_and_no_negative_time(self, consumer):
        with pytest.raises(ValueError, match="must be before"):
            consumer.set_start_from_timestamp(int(time.time() * 1000) + 60_000)
        with pytest.raises(ValueError, match="invalid"):
            consumer.set_start_from_timestamp(-1)

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_consumer_needs_a_topic(self):
        with pytest.raises(ValueError, match="null/empty"):
            FlinkKafkaConsumer([], SimpleStringSchema(), SERVERS)

    def test_producer_keeps_what_it_was_told(self, producer):
        assert producer._config.guarantee is Guarantee.AT_LEAST_ONCE
        assert not producer._config.records.timestamped
        producer.set_log_failures_only(True).set_write_timestamp_to_kafka(True)
        assert producer.ignore_failures_after_transaction_timeout() is producer
        assert producer._config.log_failures_only
        assert producer._config.records.timestamped

    def test_producer_that_does_not_flush_guarantees_nothing(self, producer):
        assert producer.set_flush_on_checkpoint(False)._sink._config.guarantee is Guarantee.NONE
        again = producer.set_flush_on_checkpoint(True)._sink
        assert again._config.guarantee is Guarantee.AT_LEAST_ONCE

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_producer_needs_servers_and_a_pool(self):
        with pytest.raises(ValueError, match=r"bootstrap\.servers must be supplied"):
            FlinkKafkaProducer("t", SimpleStringSchema(), {})
        with pytest.raises(ValueError, match="must be non empty"):
            FlinkKafkaProducer("t", SimpleStringSchema(), SERVERS, 0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestUse:
    """Streams are made without asking the cluster; that is for the job's start."""

    @pytest.fixture
    def env(self):
        return StreamExecutionEnvironment.get_execution_environment()

    def test_from_source(self, env):
        strategy = WatermarkStrategy.no_watermarks()
        stream = env.from_source(source_builder().build(), strategy, "kafka")
        assert stream.get_type() == Types.STRING()

    def test_add_source(self, env):
        stream = env.add_source(FlinkKafkaConsumer("t", SimpleStringSchema(), SERVERS))
        assert stream.get_type() == Types.STRING()
