"""Fixtures for the tests of Kafka's connectors."""

from __future__ import annotations

import os

import pytest

from pyflink_on_spark.testing import local_engine

_SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")


@pytest.fixture(scope="session")
def mock():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    from tests.connectors.kafka.cluster import mock_cluster

    with mock_cluster() as cluster:
        yield cluster


@pytest.fixture
def kafka():
    """A cluster in memory, empty."""
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    from tests.connectors.kafka.cluster import memory_cluster

    with memory_cluster() as cluster:
        yield cluster


@pytest.fixture(params=["memory", "mock", *(["server"] if _SERVERS else [])])
def any_kafka(request):
    """Each cluster that there is: in memory, librdkafka's, and a real one if the machine has it."""
    if request.param == "server":
        pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
        from tests.connectors.kafka.cluster import Cluster

        return Cluster(_SERVERS)
    return request.getfixturevalue({"memory": "kafka", "mock": "mock"}[request.param])


@pytest.fixture
def env():
    """An environment whose jobs run in this process."""
    from pyflink_on_spark.datastream import StreamExecutionEnvironment

    with local_engine():
        environment = StreamExecutionEnvironment.get_execution_environment()
        environment.set_parallelism(2)
        yield environment
