"""What goes wrong is named; once it is put right, a job that goes on loses nothing."""

from __future__ import annotations

import pytest

from pyflink_on_spark._runtime.connectors.rabbitmq.broker import RabbitMqError
from pyflink_on_spark._runtime.connectors.rabbitmq.options import (
    RMQConnection,
    RMQReading,
    RMQWriting,
)
from pyflink_on_spark._runtime.connectors.rabbitmq.sink import QueueWriter
from pyflink_on_spark._runtime.connectors.rabbitmq.source import QueueSource
from pyflink_on_spark.common import SimpleStringSchema
from tests.connectors.rabbitmq.proxy import Proxy
from tests.connectors.reading import checkpoint, close, readers_of, take
from tests.connectors.servers import free_port


class TestRabbitMq:
    def connection(self, port):
        uri = f"amqp://guest:guest@127.0.0.1:{port}/%2F"
        return RMQConnection(uri, network_recovery_interval=10)

    def readers(self, port, queue, saved=None):
        told = RMQReading(self.connection(port), queue, True, SimpleStringSchema())
        return readers_of(QueueSource(told), 1, saved)

    def test_a_broker_that_is_gone_at_the_start_and_in_the_middle(self, port, channel, queue):
        import pika

        def send(text):
            channel.basic_publish("", queue, text, pika.BasicProperties(correlation_id=text))

        send("a")
        send("b")
        nobody = free_port()
        with pytest.raises(RabbitMqError, match=f"RabbitMQ at 127.0.0.1:{nobody}: .*refused"):
            self.readers(nobody, queue)
        proxy = Proxy(port)
        readers = self.readers(proxy.port, queue)
        readers[0].limit = 1
        assert take(readers, 1) == ["a"]
        saved = checkpoint(readers)
        proxy.close()
        for _ in range(10):
            assert readers[0].poll() is None
        close(readers)
        readers = self.readers(port, queue, saved)
        send("c")
        assert take(readers, 2) == ["b", "c"]
        close(readers)

    def test_a_broker_that_is_gone_while_messages_are_written(self, port, channel, queue):
        proxy = Proxy(port)
        told = RMQWriting(self.connection(proxy.port), queue, SimpleStringSchema())
        writer = QueueWriter(told, lambda seconds: None)
        writer.write(iter(["a"]))
        proxy.close()
        with pytest.raises(RabbitMqError, match=f"127.0.0.1:{proxy.port}: .*refused"):
            writer.write(iter(["b"]))
        writer.close()
        told = RMQWriting(self.connection(port), queue, SimpleStringSchema())
        writer = QueueWriter(told)
        writer.write(iter(["b"]))
        writer.close()
        assert [channel.basic_get(queue, auto_ack=True)[2] for _ in "ab"] == [b"a", b"b"]
