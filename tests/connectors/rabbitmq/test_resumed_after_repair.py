"""Errors name their cause; a job that resumes after a repair loses nothing."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import replace

import pytest

from pyflink_on_spark._connectors.rabbitmq import (
    QueueSource,
    QueueWriter,
    RabbitMqError,
    RMQConnection,
    RMQSinkConfig,
    RMQSourceConfig,
)
from pyflink_on_spark.common import SimpleStringSchema
from tests.connectors.rabbitmq.proxy import Proxy
from tests.connectors.reading import checkpoint, close, context_of, take
from tests.connectors.servers import free_port


class TestRabbitMq:
    def connection(self, port):
        uri = f"amqp://guest:guest@127.0.0.1:{port}/%2F"
        return RMQConnection(uri, network_recovery_interval=10)

    def readers(self, port, queue, saved=None):
        told = RMQSourceConfig(self.connection(port), queue, True, SimpleStringSchema())
        context = context_of(restored=None if saved is None else 1)
        context.checkpointed = True
        return [QueueSource(told).reader([0], saved, context)]

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
        with pytest.raises(RabbitMqError, match=f"RabbitMQ at 127.0.0.1:{proxy.port}"):
            take(readers, 2)
        close(readers)
        readers = self.readers(port, queue, saved)
        send("c")
        assert take(readers, 2) == ["b", "c"]
        close(readers)

    def test_a_broker_that_is_gone_while_messages_are_written(self, port, channel, queue):
        proxy = Proxy(port)
        told = RMQSinkConfig(self.connection(proxy.port), queue, SimpleStringSchema())
        writer = QueueWriter(told, lambda seconds: None)
        writer.write(iter(["a"]))
        proxy.close()
        with pytest.raises(RabbitMqError, match=f"127.0.0.1:{proxy.port}: .*refused"):
            writer.write(iter(["b"]))
        writer.close()
        told = RMQSinkConfig(self.connection(port), queue, SimpleStringSchema())
        writer = QueueWriter(told)
        writer.write(iter(["b"]))
        writer.close()
        assert [channel.basic_get(queue, auto_ack=True)[2] for _ in "ab"] == [b"a", b"b"]

    def test_a_name_that_is_not_found(self, port, queue, monkeypatch):
        connection = replace(self.connection(port), uri="amqp://guest:guest@broker.invalid/%2F")
        told = RMQSinkConfig(connection, queue, SimpleStringSchema())
        with pytest.raises(RabbitMqError, match=r"RabbitMQ at broker.invalid:5672: .*Errno"):
            QueueWriter(told)
        # Names are not found for a while, and then again.
        proxy = Proxy(port)
        (one,) = readers = self.readers(proxy.port, queue)
        parameters = one._client._parameters
        parameters.host = "broker.invalid"
        proxy.cut()
        until = time.monotonic() + 30
        while one._client.failure is None and time.monotonic() < until:
            assert one.poll() is None
        assert "Errno" in str(one._client.failure)
        parameters.host = "127.0.0.1"
        until = time.monotonic() + 30
        while one._next_attempt is not None and time.monotonic() < until:
            one.poll()
        assert one._client._connection._connection.is_open
        close(readers)
        proxy.close()

    def test_a_broker_that_does_not_answer(self, queue):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            place = f"127.0.0.1:{silent.getsockname()[1]}"
            connection = RMQConnection(f"amqp://guest:guest@{place}/%2F", connection_timeout=100)
            with pytest.raises(RabbitMqError, match=f"RabbitMQ at {place}: Timeout"):
                QueueWriter(RMQSinkConfig(connection, queue, SimpleStringSchema()))

    def test_a_connection_that_cannot_be_used_is_closed(self, port, channel, monkeypatch):
        import pika

        made, connect = [], pika.BlockingConnection
        monkeypatch.setattr(
            pika, "BlockingConnection", lambda told: made.append(connect(told)) or made[-1]
        )
        channel.queue_declare("temporary", durable=False)
        with pytest.raises(RabbitMqError, match="with other settings"):
            self.readers(port, "temporary")
        channel.queue_delete("temporary")
        assert [one.is_closed for one in made] == [True]

    def test_a_function_that_takes_longer_than_the_broker_waits(self, port, channel, queue):
        import pika

        told = RMQSourceConfig(
            replace(self.connection(port), requested_heartbeat=1), queue, True, SimpleStringSchema()
        )
        context = context_of()
        context.checkpointed = True
        (one,) = readers = [QueueSource(told).reader([0], None, context)]
        told = RMQSinkConfig(told.connection, queue, SimpleStringSchema())
        writer = QueueWriter(told, lambda seconds: pytest.fail("connected again"))
        channel.basic_publish("", queue, "a", pika.BasicProperties(correlation_id="a"))
        assert take(readers, 1) == ["a"]
        connection = writer._client._connection
        time.sleep(4)
        saved = checkpoint(readers)
        one.notify_checkpoint_complete(1)
        assert saved[0].ids == {"a"}
        close(readers)
        writer.write(iter(["b"]))
        assert writer._client._connection is connection
        writer.close()
        assert channel.basic_get(queue, auto_ack=True)[2] == b"b"
        for thread in threading.enumerate():
            if thread.name == "rabbitmq-heartbeat":
                thread.join(10)
                assert not thread.is_alive()
