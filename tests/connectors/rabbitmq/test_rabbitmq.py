"""Jobs and subtasks that read and write queues of a real RabbitMQ."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from pyflink_on_spark._connectors.formats.file_format import CorruptRecordError
from pyflink_on_spark._connectors.rabbitmq import (
    QueueReader,
    QueueWriter,
    RabbitMqError,
    RMQConnection,
    RMQSinkConfig,
    RMQSourceConfig,
)
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark.common import SimpleStringSchema, Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.rabbitmq import (
    RMQConnectionConfig,
    RMQSink,
    RMQSource,
)
from tests.connectors.rabbitmq.proxy import Proxy
from tests.connectors.servers import free_port

SECONDS = 30


def config(port, user="guest", host="/"):
    builder = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(port)
    builder.set_virtual_host(host).set_user_name(user).set_password("guest")
    return builder.build()


def connection(port, **changes):
    uri = f"amqp://guest:guest@127.0.0.1:{port}/%2F"
    return RMQConnection(uri, network_recovery_interval=10, **changes)


def reader(port, queue, restored=None, checkpointed=True, ids=False, **changes):
    reading = RMQSourceConfig(connection(port, **changes), queue, ids, SimpleStringSchema())
    context = SimpleNamespace(clock=SystemClock(), checkpointed=checkpointed)
    return QueueReader(reading, restored, context)


def send(channel, queue, *texts, ids=False):
    import pika

    for text in texts:
        properties = pika.BasicProperties(correlation_id=f"id {text}") if ids else None
        channel.basic_publish("", queue, text.encode(), properties)


def take(one, count):
    """Poll until there are so many elements."""
    found = []
    until = time.monotonic() + SECONDS
    while len(found) < count:
        assert time.monotonic() < until, f"only {found}"
        bundle = one.poll()
        found += bundle.values if bundle else []
    return found


def save(one, number):
    one.prepare_checkpoint(number)
    return one.snapshot()


def left(channel, queue):
    """Return the messages in a queue that nobody reads any more."""
    texts = []
    while (got := channel.basic_get(queue, auto_ack=True))[0] is not None:
        texts.append(got[2].decode())
    return texts


def test_a_job_from_queue_to_queue(local_engine, port, channel, queue):
    other = f"{queue}-out"
    send(channel, queue, "a", "b", "c")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(10)
    source = RMQSource(config(port), queue, False, SimpleStringSchema())
    stream = env.add_source(source).map(str.upper, Types.STRING())
    stream.add_sink(RMQSink(config(port), other, SimpleStringSchema()))
    client = env.execute_async()
    channel.queue_declare(other, durable=True)
    until = time.monotonic() + SECONDS
    written = []
    while len(written) < 3 and time.monotonic() < until:
        written += left(channel, other)
    client.cancel().result()
    assert written == ["A", "B", "C"]


def test_messages_are_acknowledged_with_a_checkpoint(port, channel, queue):
    send(channel, queue, "a", "b")
    one = reader(port, queue)
    assert take(one, 2) == ["a", "b"]
    save(one, 1)
    send(channel, queue, "c")
    assert take(one, 1) == ["c"]
    save(one, 2)
    one.notify_checkpoint_complete(1)
    one.notify_checkpoint_complete(2)
    send(channel, queue, "d")
    assert take(one, 1) == ["d"]
    save(one, 3)
    one.close()
    assert left(channel, queue) == ["d"]


def test_without_checkpoints_when_they_are_handed_on(port, channel, queue):
    send(channel, queue, "a", "b", "c")
    one = reader(port, queue, checkpointed=False)
    one.limit = 1
    assert take(one, 2) == ["a", "b"]
    one.close()
    assert left(channel, queue) == ["b", "c"]


def test_each_message_once_with_correlation_ids(port, channel, queue):
    send(channel, queue, "a", "b", "a", ids=True)
    first = reader(port, queue, ids=True)
    assert take(first, 2) == ["a", "b"]
    saved = save(first, 1)
    send(channel, queue, "c", ids=True)
    assert take(first, 1) == ["c"]
    first.close()
    # The checkpoint has a and b, which were not acknowledged; c it has not.
    second = reader(port, queue, restored=saved, ids=True)
    assert take(second, 1) == ["c"]
    send(channel, queue, "d", ids=True)
    assert take(second, 1) == ["d"]
    again = save(second, 2)
    second.notify_checkpoint_complete(2)
    assert save(second, 3)[0].ids == frozenset()
    second.close()
    assert again[0].ids == {"id a", "id b", "id c", "id d"}
    assert left(channel, queue) == []


def test_a_lost_connection_is_made_again(port, channel, queue):
    proxy = Proxy(port)
    send(channel, queue, "a")
    one = reader(proxy.port, queue)
    assert take(one, 1) == ["a"]
    save(one, 1)
    proxy.cut()
    send(channel, queue, "b")
    assert take(one, 2) == ["a", "b"]
    one.notify_checkpoint_complete(1)
    save(one, 2)
    one.notify_checkpoint_complete(2)
    one.close()
    proxy.close()
    assert left(channel, queue) == []


def test_without_recovery_a_lost_connection_is_an_error(port, queue):
    proxy = Proxy(port)
    one = reader(proxy.port, queue, automatic_recovery=False)
    proxy.cut()
    with pytest.raises(RabbitMqError, match=f"RabbitMQ at 127.0.0.1:{proxy.port}"):
        take(one, 1)
    one.close()
    proxy.close()


def test_a_sink_sends_again_what_is_not_confirmed(port, channel, queue):
    proxy = Proxy(port)
    writing = RMQSinkConfig(connection(proxy.port), queue, SimpleStringSchema())
    writer = QueueWriter(writing, lambda seconds: None)
    writer.write(iter(["a", "b"]))
    proxy.cut()
    for now in (5000, 10_000, 15_000):
        writer.advance_processing_time(now)
    writer.write(iter(["c"]))
    proxy.close()
    with pytest.raises(RabbitMqError, match="refused"):
        writer.write(iter(["d"]))
    writer.close()
    assert left(channel, queue) == ["a", "b", "c"]


def test_prefetched_messages_are_limited(port, channel, queue):
    send(channel, queue, "a", "b", "c")
    one = reader(port, queue, prefetch_count=2)
    assert take(one, 2) == ["a", "b"]
    for _ in range(5):
        assert one.poll() is None
    save(one, 1)
    one.notify_checkpoint_complete(1)
    assert take(one, 1) == ["c"]
    one.close()


def test_a_message_that_cannot_be_read(port, channel, queue):
    channel.basic_publish("", queue, b"\xff")
    one = reader(port, queue)
    # As Java does, the schema of texts replaces what is not in its character set.
    assert take(one, 1) == ["�"]
    one.close()

    class Numbers(SimpleStringSchema):
        def _deserializer(self):
            return int

    reading = RMQSourceConfig(connection(port), queue, False, Numbers())
    one = QueueReader(reading, None, SimpleNamespace(clock=SystemClock(), checkpointed=True))
    with pytest.raises(CorruptRecordError, match=f"message 1 .* queue '{queue}'"):
        take(one, 1)
    one.close()


def test_a_message_without_an_id(port, channel, queue):
    send(channel, queue, "a")
    one = reader(port, queue, ids=True)
    with pytest.raises(RabbitMqError, match="has no correlation id"):
        take(one, 1)
    one.close()


def test_a_queue_that_is_deleted(port, channel, queue):
    one = reader(port, queue)
    channel.queue_delete(queue)
    with pytest.raises(RabbitMqError, match=f"the queue '{queue}' was deleted"):
        take(one, 1)
    one.close()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"user": "nobody"}, "refuses the user name or the password"),
        ({"host": "/missing"}, "no virtual host '/missing'"),
    ],
)
def test_a_broker_that_refuses(port, queue, changes, text):
    told = config(port, **changes)._connection
    with pytest.raises(RabbitMqError, match=text):
        QueueWriter(RMQSinkConfig(told, queue, SimpleStringSchema()))


def test_a_queue_with_other_settings(port, channel):
    channel.queue_declare("temporary", durable=False)
    with pytest.raises(RabbitMqError, match="'temporary' is there with other settings"):
        reader(port, "temporary")
    channel.queue_delete("temporary")


def test_a_broker_that_is_not_there():
    pytest.importorskip("pika")
    nobody = free_port()
    with pytest.raises(RabbitMqError, match=rf"at 127.0.0.1:{nobody}: .*refused") as caught:
        reader(nobody, "queue")
    assert "guest" not in str(caught.value)
    with pytest.raises(ValueError, match="a URI of RabbitMQ is"):
        QueueWriter(RMQSinkConfig(RMQConnection("amqp://h:x/"), "queue", SimpleStringSchema()))


def test_more_messages_than_a_bundle(port, channel, queue):
    texts = [f"{number}" for number in range(BUNDLE_SIZE + 100)]
    writer = QueueWriter(RMQSinkConfig(connection(port), queue, SimpleStringSchema()))
    writer.write(iter(texts))
    writer.close()
    one = reader(port, queue, checkpointed=False)
    assert take(one, len(texts)) == texts
    assert one.poll() is None
    one.close()
    assert left(channel, queue) == []
