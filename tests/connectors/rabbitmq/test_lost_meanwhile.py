"""A connection that another thread finds lost, while its user waits for it."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from pyflink_on_spark._connectors.rabbitmq import (
    QueueSource,
    QueueWriter,
    RMQConnection,
    RMQSinkConfig,
    RMQSourceConfig,
)
from pyflink_on_spark.common import SimpleStringSchema
from tests.connectors.reading import context_of

# No thread looks after it: a test says when the loss is found.
_CONNECTION = RMQConnection("amqp://broker/", requested_heartbeat=0, network_recovery_interval=10)


class LostConnection:
    """A connection of pika's, which can be lost."""

    def __init__(self, parameters):
        self.is_open = True

    def channel(self):
        return MagicMock()

    def process_data_events(self, time_limit):
        if not self.is_open:
            raise ValueError("Timeout closed before call")

    def close(self):
        self.is_open = False


class LockOfAnother:
    """A lock; who waits for it gets it when the other has found the loss."""

    def __init__(self, lost):
        self._lost = lost

    def __enter__(self):
        self._lost.is_open = False

    def __exit__(self, *error):
        pass


@pytest.fixture(autouse=True)
def pika(monkeypatch):
    module = pytest.importorskip("pika", reason="pika is not installed")
    monkeypatch.setattr(module, "BlockingConnection", LostConnection)
    return module


def find_loss_meanwhile(broker):
    living = broker._connection
    living._lock = LockOfAnother(living._connection)


def test_a_reader_connects_again():
    told = RMQSourceConfig(_CONNECTION, "queue", False, SimpleStringSchema())
    reader = QueueSource(told).reader([0], None, context_of())
    lost = reader._client._connection
    find_loss_meanwhile(reader._client)
    assert reader.poll() is None
    assert reader.poll() is None
    assert reader._client._connection is not lost
    assert reader._client._connection._connection.is_open
    reader.close()


def test_a_sink_connects_again_with_the_next_message():
    writer = QueueWriter(RMQSinkConfig(_CONNECTION, "queue", SimpleStringSchema()))
    find_loss_meanwhile(writer._client)
    writer.advance_processing_time(0)
    writer.close()


def test_a_connection_that_is_closed_says_so(pika):
    writer = QueueWriter(RMQSinkConfig(_CONNECTION, "queue", SimpleStringSchema()))
    find_loss_meanwhile(writer._client)
    with pytest.raises(pika.exceptions.ConnectionWrongStateError, match="is closed"):
        writer._client.listen(0)
    writer.close()
    with pytest.raises(pika.exceptions.ConnectionWrongStateError, match="is closed"):
        writer._client.listen(0)
