"""Counts the records of a topic by their value, and writes each count to another topic."""

from __future__ import annotations

from collections import defaultdict

from benchmarks.connectors.command import main

_AT_ONCE = 10_000


def flink(env, options):
    from pyflink.common import SimpleStringSchema, Types, WatermarkStrategy
    from pyflink.datastream.connectors import DeliveryGuarantee
    from pyflink.datastream.connectors.kafka import (
        KafkaOffsetsInitializer,
        KafkaRecordSerializationSchema,
        KafkaSink,
        KafkaSource,
    )

    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(options.servers)
        .set_topics(options.input)
        .set_value_only_deserializer(SimpleStringSchema())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .build()
    )
    records = KafkaRecordSerializationSchema.builder().set_topic(options.output)
    records.set_value_serialization_schema(SimpleStringSchema())
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(options.servers)
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_record_serializer(records.build())
        .build()
    )
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
        .map(lambda word: (word, 1), pair)
        .key_by(lambda count: count[0], Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .map(lambda count: f"{count[0]} {count[1]}", Types.STRING())
        .sink_to(sink)
    )


def client(options):
    import confluent_kafka

    settings = {"bootstrap.servers": options.servers}
    consumer = confluent_kafka.Consumer(
        {**settings, "group.id": "bench", "enable.partition.eof": True, "enable.auto.commit": False}
    )
    numbers = consumer.list_topics(options.input).topics[options.input].partitions
    consumer.assign([confluent_kafka.TopicPartition(options.input, n, 0) for n in numbers])
    producer = confluent_kafka.Producer({**settings, "enable.idempotence": True})
    counts, left = defaultdict(int), len(numbers)
    while left:
        for message in consumer.consume(_AT_ONCE, 1):
            if message.error() is not None:
                left -= 1
                continue
            word = message.value().decode()
            counts[word] += 1
            send(producer, options.output, f"{word} {counts[word]}")
        producer.poll(0)
    producer.flush()
    consumer.close()


def send(producer, topic, text):
    while True:
        try:
            return producer.produce(topic, text.encode())
        except BufferError:
            producer.poll(0.1)


if __name__ == "__main__":
    main(flink=flink, client=client)
