"""A job that read a topic of Kafka on real PyFlink, with Flink's connector, and continues here."""

from __future__ import annotations

import pytest

from tests.connectors.kafka.broker import Broker
from tests.connectors.kafka.cluster import Cluster
from tests.flink_state.samples import continued, first_results


@pytest.fixture
def topic(monkeypatch):
    """The topic of the job, with twice the records that Flink has read."""
    broker = Broker()
    cluster = Cluster(broker.servers, broker)
    cluster.create("lines", 2)
    for partition in (0, 1):
        values = [f"p{partition}-{n}" for n in range(12)]
        cluster.write("lines", values, partition=partition)
    monkeypatch.setenv("MOVING_IN_KAFKA", broker.servers)
    yield
    broker.stop()


@pytest.mark.parametrize("parallelism", [1, 3])
def test_the_offsets_of_flinks_connector_continue(local_engine, topic, parallelism):
    second = continued("kafka", local_engine, parallelism=parallelism)
    expected = [f"kafka p{partition}-{n}" for partition in (0, 1) for n in range(12)]
    assert sorted(second) == sorted(line for line in expected if int(line.split("-")[1]) >= 6)
    assert sorted(first_results("kafka") + second) == sorted(expected)


@pytest.mark.filterwarnings("ignore:FlinkKafkaConsumer is deprecated")
@pytest.mark.parametrize("parallelism", [1, 3])
def test_the_offsets_of_a_former_consumer_continue(local_engine, topic, parallelism):
    expected = [f"kafka p{partition}-{n}" for partition in (0, 1) for n in range(6, 12)]
    assert sorted(continued("old-kafka", local_engine, parallelism=parallelism)) == sorted(expected)
