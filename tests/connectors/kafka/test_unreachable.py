"""A broker that cannot be reached is logged once, and so is its return."""

from __future__ import annotations

import re
import time

import pytest

from pyflink_on_spark.datastream.connectors import DeliveryGuarantee
from tests.connectors.kafka.jobs import reading, writing
from tests.connectors.reading import close, context_of, readers_of, take
from tests.connectors.servers import free_port

pytestmark = pytest.mark.slow


@pytest.fixture
def kafka():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    from tests.connectors.kafka.cluster import memory_cluster

    with memory_cluster() as cluster:
        yield cluster


@pytest.fixture
def lines(caplog):
    return lambda: [
        record.getMessage()
        for record in caplog.records
        if record.name == "pyflink_on_spark.connectors"
    ]


def until(condition, step, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        step()


def endless(kafka, topic):
    builder = reading(kafka.servers, topic)
    builder._stopping, builder._bounded = None, False
    return builder.build()._source


def test_readers_of_a_quiet_topic(kafka, lines):
    topic = kafka.topic(2)
    readers = readers_of(endless(kafka, topic), 2)
    kafka.write(topic, ["a", "b", "c", "d"])
    assert sorted(take(readers, 4)) == ["a", "b", "c", "d"]

    def poll():
        for reader in readers:
            assert reader.poll() is None

    kafka.broker.stop()
    until(lines, poll)
    for _ in range(50):
        poll()
    (lost,) = lines()
    assert lost.startswith(f"waiting for Kafka at {kafka.servers} since ")
    assert any(word in lost for word in ("refused", "failed", "isconnected", "down"))
    kafka.broker.start()
    until(lambda: len(lines()) > 1, poll)
    for _ in range(50):
        poll()
    _, found = lines()
    assert found.startswith(f"Kafka at {kafka.servers} is reachable again after ")
    close(readers)


def test_a_reader_that_gets_records_again(kafka, lines):
    topic = kafka.topic(1)
    readers = readers_of(endless(kafka, topic), 1)
    kafka.write(topic, ["a"])
    assert take(readers, 1) == ["a"]
    kafka.broker.stop()
    until(lines, readers[0].poll)
    kafka.broker.start()
    kafka.write(topic, ["b"])
    assert take(readers, 1) == ["b"]
    assert len(lines()) == 2
    close(readers)


@pytest.mark.parametrize("guarantee", [DeliveryGuarantee.NONE, DeliveryGuarantee.AT_LEAST_ONCE])
def test_a_writer(kafka, lines, guarantee):
    topic = kafka.topic(1)
    writer = writing(kafka.servers, topic, guarantee)._sink.writer(context_of())
    writer.write(iter(["a"]))
    writer.prepare_checkpoint(1)

    def tick():
        writer.advance_processing_time(0)
        time.sleep(0.02)

    kafka.broker.stop()
    until(lines, tick)
    kafka.broker.start()
    until(lambda: len(lines()) > 1, tick)
    writer.close()
    assert len(lines()) == 2


def test_a_cluster_that_never_answers(lines):
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    servers = f"127.0.0.1:{free_port()}"
    builder = reading(servers, "t").set_property("default.api.timeout.ms", "2500")
    with pytest.raises(ConnectionError, match="did not answer"):
        builder.build()._source.splits(1)
    (line,) = lines()
    assert line.startswith(f"waiting for Kafka at {servers} since ")
    assert re.search(r"Connection refused \(after \d+ms in state CONNECT\)$", line)
