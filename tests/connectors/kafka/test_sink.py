from __future__ import annotations

import time

import pytest

from pyflink_on_spark.common import (
    Duration,
    Row,
    SimpleStringSchema,
    Types,
    WatermarkStrategy,
)
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.kafka import (
    FlinkKafkaProducer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    Semantic,
)
from pyflink_on_spark.datastream.formats.json import JsonRowSerializationSchema
from tests.connectors.kafka.jobs import reading, writing

GUARANTEES = list(DeliveryGuarantee)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_writes_each_element_once(any_kafka, env, guarantee):
    topic = any_kafka.topic()
    texts = [f"{n:04}" for n in range(2_000)]
    sink = writing(any_kafka.servers, topic, guarantee)
    env.from_collection(texts, Types.STRING()).rebalance().sink_to(sink)
    env.execute()
    assert sorted(any_kafka.values(topic)) == texts


def test_from_topic_to_topic(any_kafka, env):
    source, target = any_kafka.topic(), any_kafka.topic()
    any_kafka.write(source, ["a", "b", "a"])
    words = env.from_source(
        reading(any_kafka.servers, source).build(), WatermarkStrategy.no_watermarks(), "words"
    )
    counts = words.map(lambda w: (w, 1)).key_by(lambda v: v[0]).sum(1)
    counts.map(lambda v: f"{v[0]}={v[1]}", Types.STRING()).sink_to(
        writing(any_kafka.servers, target)
    )
    env.execute()
    assert sorted(any_kafka.values(target)) == ["a=1", "a=2", "b=1"]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_checkpoint_after_checkpoint(kafka, env, guarantee):
    source, target = kafka.topic(), kafka.topic()
    env.enable_checkpointing(20)
    builder = reading(kafka.servers, source).set_group_id("copies")
    builder._stopping, builder._bounded = None, False
    texts = env.from_source(builder.build(), WatermarkStrategy.no_watermarks(), "texts")
    texts.sink_to(writing(kafka.servers, target, guarantee))
    job = env.execute_async("copy")
    for number in range(5):
        kafka.write(source, [f"{number}{letter}" for letter in "abc"])
        deadline = time.monotonic() + 20
        while len(kafka.values(target)) < 3 * number + 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    job.cancel().result()
    assert sorted(kafka.values(target)) == [f"{n}{letter}" for n in range(5) for letter in "abc"]
    assert sum(kafka.committed("copies", source, 2).values()) in range(12, 16)


class TestRecords:
    def write(self, kafka, stream, schema):
        builder = KafkaSink.builder().set_bootstrap_servers(kafka.servers)
        stream.sink_to(builder.set_record_serializer(schema.build()).build())
        stream.get_execution_environment().execute()

    def schema(self):
        builder = KafkaRecordSerializationSchema.builder()
        return builder.set_value_serialization_schema(SimpleStringSchema())

    def test_keys_decide_on_the_partition_as_in_java(self, kafka, env):
        """The hashes are from the tests of Kafka's own client."""
        hashes = {"21": -973932308, "foobar": -790332482, "abc": 479470107}
        topic = kafka.topic(7)
        schema = self.schema().set_topic(topic).set_key_serialization_schema(SimpleStringSchema())
        self.write(kafka, env.from_collection(list(hashes), Types.STRING()), schema)
        found = {m.key().decode(): m.partition() for m in kafka.read(topic)}
        assert found == {key: (value & 0x7FFFFFFF) % 7 for key, value in hashes.items()}

    @pytest.mark.parametrize("guarantee", GUARANTEES)
    def test_a_topic_for_each_element(self, kafka, env, guarantee):
        kafka.broker.create("of-a")
        kafka.broker.create("of-b")
        schema = self.schema().set_topic_selector(lambda text: f"of-{text[0]}").build()
        builder = KafkaSink.builder().set_bootstrap_servers(kafka.servers)
        builder.set_delivery_guarantee(guarantee).set_transactional_id_prefix("x")
        texts = env.from_collection(["a1", "b1", "a2"], Types.STRING())
        texts.sink_to(builder.set_record_serializer(schema).build())
        env.execute()
        assert sorted(kafka.values("of-a")) == ["a1", "a2"]
        assert kafka.values("of-b") == ["b1"]

    def test_rows(self, kafka, env):
        rows = Types.ROW_NAMED(["name", "count"], [Types.STRING(), Types.INT()])
        topic = kafka.topic()
        schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
        json = JsonRowSerializationSchema.builder().with_type_info(rows).build()
        schema.set_value_serialization_schema(json)
        self.write(kafka, env.from_collection([Row("a", 1)], rows), schema)
        assert kafka.values(topic) == ['{"name":"a","count":1}']

    def test_timestamps_are_those_of_the_elements(self, kafka, env):
        class Length(TimestampAssigner):
            def extract_timestamp(self, value, record_timestamp):
                return 1_000 * len(value)

        bound = Duration.of_seconds(0)
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(bound)
        strategy = strategy.with_timestamp_assigner(Length())
        topic = kafka.topic(1)
        texts = env.from_collection(["a", "bb"], Types.STRING())
        stream = texts.assign_timestamps_and_watermarks(strategy)
        self.write(kafka, stream, self.schema().set_topic(topic))
        found = sorted(message.timestamp() for message in kafka.read(topic))  # from two subtasks
        assert found == [(1, 1_000), (1, 2_000)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
class TestFlinkKafkaProducer:
    @pytest.mark.parametrize("semantic", list(Semantic))
    def test_writes_each_element_once(self, kafka, env, semantic):
        topic = kafka.topic()
        properties = {"bootstrap.servers": kafka.servers}
        sink = FlinkKafkaProducer(topic, SimpleStringSchema(), properties, semantic=semantic)
        env.from_collection(["a", "b"], Types.STRING()).add_sink(sink)
        env.execute()
        assert sorted(kafka.values(topic)) == ["a", "b"]

    def test_failures_that_are_only_logged(self, kafka, env, caplog):
        properties = {"bootstrap.servers": kafka.servers, "topic.metadata.propagation.max.ms": "50"}
        sink = FlinkKafkaProducer("nowhere", SimpleStringSchema(), properties)
        sink.set_log_failures_only(True)
        env.from_collection(["a"], Types.STRING()).add_sink(sink)
        env.execute()
        assert "topic 'nowhere' could not be written" in caplog.text


def test_more_records_than_the_client_keeps(kafka, env):
    topic = kafka.topic(1)
    few = {"queue_buffering_max_messages": "50", "linger_ms": "1"}
    texts = [f"{n:04}" for n in range(3_000)]
    env.set_parallelism(1)
    sink = writing(kafka.servers, topic, DeliveryGuarantee.AT_LEAST_ONCE, **few)
    env.from_collection(texts, Types.STRING()).sink_to(sink)
    env.execute()
    assert kafka.values(topic) == texts
