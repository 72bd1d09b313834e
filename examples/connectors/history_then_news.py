"""Reads the files of a folder, then what comes into another folder or into a Kafka topic.

    python -m pyflink_on_spark examples/connectors/history_then_news.py --history OLD --news NEW
    python -m pyflink_on_spark examples/connectors/history_then_news.py --history OLD
        --servers localhost:9092 --topic TOPIC

Prints lines, or the texts of records. Runs until it is stopped.
"""

from __future__ import annotations

import argparse

from pyflink.common import Duration, SimpleStringSchema, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.connectors.hybrid_source import HybridSource
from pyflink.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource


def lines_of(folder):
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), folder)


def records_of(servers, topic):
    return (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(topic)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )


def print_lines(history, news):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    source = HybridSource.builder(lines_of(history).build()).add_source(news).build()
    no_watermarks = WatermarkStrategy.no_watermarks()
    env.from_source(source, no_watermarks, "history, then news", Types.STRING()).print()
    env.execute("history then news")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--history", required=True, help="a folder")
    parser.add_argument("--news", help="another folder")
    parser.add_argument("--servers", help="host:port of a Kafka cluster")
    parser.add_argument("--topic", help="a topic there")
    arguments = parser.parse_args()
    if arguments.topic:
        following = records_of(arguments.servers, arguments.topic)
    else:
        following = lines_of(arguments.news).monitor_continuously(Duration.of_seconds(1)).build()
    print_lines(arguments.history, following)
