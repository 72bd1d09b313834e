"""Counts clicks in a Kinesis stream, and writes the counts to another one.

    python -m pyflink_on_spark examples/connectors/clicks_per_page.py --from clicks --to counts

A click is the name of a page. Runs until it is stopped. The account is the one that AWS's own tools
use; AWS_REGION and AWS_ENDPOINT_URL are heeded.
"""

from __future__ import annotations

import argparse
import os

from pyflink.common import SimpleStringSchema, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.kinesis import (
    FlinkKinesisConsumer,
    KinesisStreamsSink,
    PartitionKeyGenerator,
)


def client_properties():
    properties = {"aws.region": os.environ.get("AWS_REGION", "us-east-1")}
    if "AWS_ENDPOINT_URL" in os.environ:
        properties["aws.endpoint"] = os.environ["AWS_ENDPOINT_URL"]
    return properties


def count_clicks(source_stream, sink_stream):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(10_000)
    properties = client_properties()
    source = FlinkKinesisConsumer(
        source_stream,
        SimpleStringSchema(),
        {**properties, "flink.stream.initpos": "TRIM_HORIZON"},
    )
    sink = (
        KinesisStreamsSink.builder()
        .set_kinesis_client_properties(properties)
        .set_serialization_schema(SimpleStringSchema())
        .set_partition_key_generator(PartitionKeyGenerator.random())
        .set_stream_name(sink_stream)
        .build()
    )
    (
        env.add_source(source)
        .map(lambda page: (page, 1), Types.TUPLE([Types.STRING(), Types.LONG()]))
        .key_by(lambda count: count[0], Types.STRING())
        .sum(1)
        .map(lambda count: f"{count[0]} {count[1]}", Types.STRING())
        .sink_to(sink)
    )
    env.execute("clicks per page")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", required=True, help="a stream")
    parser.add_argument("--to", dest="sink", required=True, help="another stream")
    arguments = parser.parse_args()
    count_clicks(arguments.source, arguments.sink)
