"""Counts the views of each page, from one Kafka topic to another one, exactly once.

python -m pyflink_on_spark run -d examples/operations/page_views.py --servers localhost:9092

A record of the topic "views" is the name of a page; a record of the topic "counts" is a page and
how often it was viewed so far.
"""

from __future__ import annotations

import argparse

from pyflink.common import SimpleStringSchema, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflink.datastream.state import ValueStateDescriptor


class CountViews(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, page, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{page} {count}"


def views(servers):
    source = KafkaSource.builder().set_bootstrap_servers(servers).set_topics("views")
    source.set_group_id("page-views").set_value_only_deserializer(SimpleStringSchema())
    return source.set_starting_offsets(KafkaOffsetsInitializer.earliest()).build()


def counts(servers):
    records = KafkaRecordSerializationSchema.builder().set_topic("counts")
    records.set_value_serialization_schema(SimpleStringSchema())
    sink = KafkaSink.builder().set_bootstrap_servers(servers)
    sink.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    sink.set_transactional_id_prefix("page-views").set_property("transaction.timeout.ms", "600000")
    return sink.set_record_serializer(records.build()).build()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--servers", required=True, help="host:port of the cluster")
    servers = parser.parse_args().servers
    env = StreamExecutionEnvironment.get_execution_environment()
    pages = env.from_source(views(servers), WatermarkStrategy.no_watermarks(), "views").uid("views")
    counted = pages.key_by(lambda page: page, Types.STRING()).process(CountViews(), Types.STRING())
    counted.uid("counts").name("counts").sink_to(counts(servers)).uid("sink")
    env.execute("page views")


if __name__ == "__main__":
    main()
