"""The job of the soak of Kafka; plain PyFlink.

    python -m pyflink_on_spark tests/faults/kafka_job.py INPUT OUTPUT --topic TOPIC
        --servers SERVERS --checkpoints FOLDER [--restore CHECKPOINT] [--bounded]

Counts the records of the topic INPUT in event-time windows of each key, and writes that to the
topic TOPIC, exactly once, until there is a file OUTPUT/stop: then it stops with a savepoint.
"""

from __future__ import annotations

import argparse

from job import arguments, environment, run
from pyflink.common import SimpleStringSchema, Time, Types, WatermarkStrategy
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.connectors import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflink.datastream.window import TumblingEventTimeWindows

START_MS, WINDOW = 1_700_000_000_000, 5_000
EVENT = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])


class SumOfWindow(ProcessWindowFunction):
    """Emits the key, the window's begin, how many events it has, and the sum of their numbers."""

    def process(self, key, context, elements):
        numbers = [number for number, _, _ in elements]
        yield f"{key},{context.window().start - START_MS},{len(numbers)},{sum(numbers)}"


def parse(line):
    return tuple(map(int, line.split(",")))


def source(options):
    builder = KafkaSource.builder().set_bootstrap_servers(options.servers)
    builder.set_topics(options.input).set_group_id(options.group)
    builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    builder.set_value_only_deserializer(SimpleStringSchema())
    if options.bounded:
        builder.set_bounded(KafkaOffsetsInitializer.latest())
    return builder.build()


def sink(options):
    records = KafkaRecordSerializationSchema.builder().set_topic(options.topic)
    records.set_value_serialization_schema(SimpleStringSchema())
    builder = KafkaSink.builder().set_bootstrap_servers(options.servers)
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    builder.set_transactional_id_prefix(f"of-{options.topic}")
    builder.set_property("transaction.timeout.ms", "600000")
    return builder.set_record_serializer(records.build()).build()


def build(env, options):
    times = WatermarkStrategy.for_monotonous_timestamps()
    (
        env.from_source(source(options), times, "events")
        .uid("events")
        .map(parse, EVENT)
        .key_by(lambda event: event[1], Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW)))
        .process(SumOfWindow(), Types.STRING())
        .uid("windows")
        .sink_to(sink(options))
        .uid("sums")
    )


def main(build=build):
    parser = argparse.ArgumentParser(parents=[arguments()], add_help=False)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--servers", required=True)
    parser.add_argument("--group", default="soak")
    parser.add_argument("--bounded", action="store_true", help="end where the topic ends now")
    options = parser.parse_args()
    env = environment(options)
    build(env, options)
    if options.bounded:
        env.execute("soak of Kafka")
    else:
        run(env, options)


if __name__ == "__main__":
    main()
