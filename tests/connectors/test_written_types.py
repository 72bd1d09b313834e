"""Which streams sinks with a serialization schema take; in PyFlink the job fails, here the call.

Seen in PyFlink 2.3 with Java's SocketClientSink: a stream without a declared type gives Java's
schemas pickled bytes ("class [B cannot be cast to class java.lang.String"), one of LONG a Long, and
so on; ByteArraySchema writes the pickled bytes as they are.
"""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import ByteArraySchema, Row, SimpleStringSchema, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.kafka import (
    FlinkKafkaProducer,
    KafkaRecordSerializationSchema,
    KafkaSink,
)
from pyflink_on_spark.datastream.connectors.kinesis import (
    KinesisFirehoseSink,
    KinesisStreamsSink,
    PartitionKeyGenerator,
)
from pyflink_on_spark.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink
from pyflink_on_spark.datastream.formats.csv import CsvRowSerializationSchema
from pyflink_on_spark.datastream.formats.json import JsonRowSerializationSchema

PAIR = Types.ROW_NAMED(["a", "b"], [Types.STRING(), Types.INT()])
BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
AWS = {"aws.region": "eu-central-1"}


def kafka(schema, **more):
    records = KafkaRecordSerializationSchema.builder().set_value_serialization_schema(schema)
    if "key" in more:
        records.set_key_serialization_schema(more["key"])
    if "selector" in more:
        records.set_topic_selector(more["selector"])
    else:
        records.set_topic("t")
    sink = KafkaSink.builder().set_bootstrap_servers("there:1")
    return sink.set_record_serializer(records.build()).build()


def kafka_producer(schema):
    with pytest.warns(DeprecationWarning, match="use KafkaSink"):
        return FlinkKafkaProducer("t", schema, {"bootstrap.servers": "there:1"})


def rabbitmq(schema):
    config = RMQConnectionConfig.Builder().set_uri("amqp://there").build()
    return RMQSink(config, "q", schema)


def kinesis(schema):
    sink = KinesisStreamsSink.builder().set_kinesis_client_properties(AWS).set_stream_name("s")
    sink.set_partition_key_generator(PartitionKeyGenerator.random())
    return sink.set_serialization_schema(schema).build()


def firehose(schema):
    sink = KinesisFirehoseSink.builder().set_firehose_client_properties(AWS)
    return sink.set_delivery_stream_name("s").set_serialization_schema(schema).build()


def json_schema():
    return JsonRowSerializationSchema.builder().with_type_info(PAIR).build()


def csv_schema():
    return CsvRowSerializationSchema.Builder(PAIR).build()


SINKS = [kafka, kafka_producer, rabbitmq, kinesis, firehose]


@pytest.fixture(autouse=True)
def client_is_there():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")


def stream(type_info=None):
    env = StreamExecutionEnvironment.get_execution_environment()
    made = env.from_collection(["x"], Types.STRING())
    return made.map(lambda value: value) if type_info is None else made.map(str, type_info)


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize(
    ("schema", "fits", "wanted"),
    [
        (SimpleStringSchema, Types.STRING(), r"Types\.STRING\(\)"),
        (ByteArraySchema, BYTES, r"Types\.PRIMITIVE_ARRAY\(Types\.BYTE\(\)\)"),
        (json_schema, PAIR, r"Types\.ROW\(\[\.\.\.\]\)"),
        (csv_schema, PAIR, r"Types\.ROW\(\[\.\.\.\]\)"),
    ],
)
def test_only_streams_of_the_type_that_is_written(sink, schema, fits, wanted):
    made = sink(schema())
    stream(fits).sink_to(made)
    others = [None, Types.LONG(), Types.CHAR(), Types.TUPLE([Types.STRING()])]
    for other in [*others, *(kind for kind in (Types.STRING(), BYTES, PAIR) if kind != fits)]:
        with pytest.raises(TypeError, match=rf"writes a stream of {wanted}, and this one is of"):
            stream(other).sink_to(made)


def test_keys_of_kafka_too():
    with pytest.raises(TypeError, match="ByteArraySchema writes a stream of"):
        stream(Types.STRING()).sink_to(kafka(SimpleStringSchema(), key=ByteArraySchema()))


def test_the_element_counts_where_topics_are_chosen():
    made = kafka(SimpleStringSchema(), selector=lambda value: "t")
    stream(Types.STRING()).sink_to(made)
    with pytest.raises(TypeError, match="SimpleStringSchema writes a stream of"):
        stream().sink_to(made)
    rows = kafka(json_schema(), selector=lambda value: "t")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([Row("x", 1)], PAIR).sink_to(rows)
