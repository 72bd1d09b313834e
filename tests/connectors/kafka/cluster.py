"""Kafka clusters that tests run against, and an ordinary client for them."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from tests.connectors.kafka.broker import Broker

_MOCK = """
import sys
from confluent_kafka import Producer
mock = Producer({"test.mock.num.brokers": 1, "log_level": 0})
print(*mock.list_topics(timeout=10).brokers.values(), sep=",", flush=True)
sys.stdin.read()
"""


class Cluster:
    """Where topics are.

    Args:
        servers: its address.
        broker: the one in memory, if it is that.
        fixed: how many partitions each topic has, if one cannot say.
    """

    def __init__(self, servers: str, broker: Broker | None = None, fixed: int | None = None):
        self.servers, self.broker, self._fixed = servers, broker, fixed

    def topic(self, partitions: int = 2) -> str:
        """Make a topic with a name that nobody else has."""
        name = f"t-{uuid.uuid4().hex[:8]}"
        self.create(name, partitions)
        return name

    def create(self, name: str, partitions: int) -> None:
        """Make a topic."""
        if self.broker is not None:
            self.broker.create(name, partitions)
        elif self._fixed is not None:
            confluent_kafka.Producer(self._settings()).list_topics(name, timeout=10)
        else:
            admin = AdminClient(self._settings())
            for made in admin.create_topics([NewTopic(name, partitions, 1)]).values():
                made.result(30)

    def write(
        self,
        topic: str,
        values: Sequence[str | bytes | None],
        partition: int = -1,
        since: int = 0,
        keys: Sequence[str | bytes] | None = None,
    ) -> None:
        """Write records.

        Args:
            topic: where.
            values: theirs.
            partition: where; -1: as the client likes.
            since: the first one's timestamp in ms, the others' follow one by one; 0: now.
            keys: theirs, as many as values; None for none.
        """
        producer = confluent_kafka.Producer(self._settings())
        for number, value in enumerate(values):
            timestamp = since + number if since else 0
            while True:
                try:
                    producer.produce(
                        topic,
                        value,
                        None if keys is None else keys[number],
                        partition=partition,
                        timestamp=timestamp,
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(20) == 0

    def read(self, topic: str) -> list[confluent_kafka.Message]:
        """Read all that is committed, partition by partition."""
        settings = {
            "group.id": "reader",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
        consumer = confluent_kafka.Consumer(self._settings(**settings))
        left = set(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
        consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in left])
        found = []
        while left:
            message = consumer.poll(10)
            assert message is not None
            if message.error() is None:
                found.append(message)
            else:
                assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                left.discard(message.partition())
        consumer.close()
        return sorted(found, key=lambda message: (message.partition(), message.offset()))

    def values(self, topic: str) -> list[str]:
        return [message.value().decode() for message in self.read(topic)]

    def ends(self, topic: str) -> dict[int, int]:
        """Return the offset after the last record of each partition."""
        consumer = confluent_kafka.Consumer(self._settings(**{"group.id": "reader"}))
        numbers = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        found = {
            number: consumer.get_watermark_offsets(
                confluent_kafka.TopicPartition(topic, number), timeout=10
            )[1]
            for number in numbers
        }
        consumer.close()
        return found

    def commit(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        """Commit offsets of a group."""
        consumer = confluent_kafka.Consumer(self._settings(**{"group.id": group}))
        wanted = [
            confluent_kafka.TopicPartition(topic, number, offset)
            for number, offset in offsets.items()
        ]
        consumer.commit(offsets=wanted, asynchronous=False)
        consumer.close()

    def committed(self, group: str, topic: str, partitions: int) -> dict[int, int]:
        """Return a group's offsets."""
        consumer = confluent_kafka.Consumer(self._settings(**{"group.id": group}))
        wanted = [confluent_kafka.TopicPartition(topic, number) for number in range(partitions)]
        found = consumer.committed(wanted, timeout=10)
        consumer.close()
        return {p.partition: p.offset for p in found if p.offset >= 0}

    def _settings(self, **more: object) -> dict[str, object]:
        return {"bootstrap.servers": self.servers, "log_level": 0, **more}


@contextmanager
def mock_cluster() -> Iterator[Cluster]:
    """librdkafka's own mock cluster, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", _MOCK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        brokers = process.stdout.readline().strip()
        servers = ",".join(part.partition("/")[0] for part in brokers.split(","))
        yield Cluster(servers, fixed=4)
    finally:
        process.communicate("", timeout=20)


@contextmanager
def memory_cluster() -> Iterator[Cluster]:
    """The broker in memory."""
    broker = Broker()
    try:
        yield Cluster(broker.servers, broker)
    finally:
        broker.stop()
