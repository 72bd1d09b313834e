"""Counts the words of a Kafka topic by minutes, and writes the counts to another one.

    python -m pyflink_on_spark examples/connectors/kafka_word_count.py --servers localhost:9092
        [--input TOPIC] [--output TOPIC] [--bounded] [--jar FILE]

The time of a word is that of its record. With --bounded the job ends where the topic ends now. The
jar is what Flink needs to talk to Kafka; on Spark it is not needed.
"""

from __future__ import annotations

import argparse
import re

from pyflink.common import Duration, SimpleStringSchema, Time, Types, WatermarkStrategy
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflink.datastream.window import TumblingEventTimeWindows

WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")


def words(line):
    return WORD.findall(line.lower())


class CountOfMinute(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{context.window().start // 1000} {key} {sum(1 for _ in elements)}"


def source(servers, topic, bounded):
    builder = KafkaSource.builder().set_bootstrap_servers(servers).set_topics(topic)
    builder.set_group_id("word-count").set_value_only_deserializer(SimpleStringSchema())
    builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    if bounded:
        builder.set_bounded(KafkaOffsetsInitializer.latest())
    return builder.build()


def sink(servers, topic):
    records = KafkaRecordSerializationSchema.builder().set_topic(topic)
    records.set_value_serialization_schema(SimpleStringSchema())
    builder = KafkaSink.builder().set_bootstrap_servers(servers)
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    builder.set_transactional_id_prefix(f"word-count-{topic}")
    builder.set_property("transaction.timeout.ms", "600000")
    return builder.set_record_serializer(records.build()).build()


def count_words(servers, input_topic, output_topic, bounded=False, jar=None):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(1_000)
    if jar is not None:
        env.add_jars(jar)
    late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    lines = env.from_source(
        source(servers, input_topic, bounded), late.with_idleness(Duration.of_seconds(10)), "lines"
    )
    counts = (
        lines.flat_map(words, Types.STRING())
        .key_by(lambda word: word, Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.minutes(1)))
        .process(CountOfMinute(), Types.STRING())
    )
    counts.sink_to(sink(servers, output_topic))
    env.execute("word count of a topic")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Counts the words of a Kafka topic by minutes.")
    parser.add_argument("--servers", required=True, help="host:port of the cluster")
    parser.add_argument("--input", default="lines", help="the topic with text")
    parser.add_argument("--output", default="counts", help="the topic for the counts")
    parser.add_argument("--bounded", action="store_true", help="end where the topic ends now")
    parser.add_argument("--jar", help="file:// URL of Flink's connector for Kafka")
    arguments = parser.parse_args()
    count_words(
        arguments.servers, arguments.input, arguments.output, arguments.bounded, arguments.jar
    )
