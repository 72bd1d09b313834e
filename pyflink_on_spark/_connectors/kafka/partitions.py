"""The partitions of topics: which exist, which subtask reads each, how far each is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._connectors.kafka.client import KafkaClient, confluent_kafka
from pyflink_on_spark._connectors.kafka.config import Partition, Subscription
from pyflink_on_spark._runtime.moved_in.data_input import DataInput

_FLINKS_VERSION = 0
BEGINNING = -2
"""An offset that stands for the first record of a partition: librdkafka's own number for it."""


@dataclass(frozen=True)
class PartitionPosition:
    """How far one partition is read.

    Args:
        topic: the name of the topic.
        partition: the number of the partition.
        offset: the offset of the next record to read, or ``BEGINNING``.
        stopping: the offset at which reading stops; the record there is not read. None: never.
        problem: why there is no offset to begin at, or None.
    """

    topic: str
    partition: int
    offset: int
    stopping: int | None = None
    problem: str | None = None

    @property
    def key(self) -> Partition:
        """The partition."""
        return self.topic, self.partition

    @property
    def ended(self) -> bool:
        """Whether nothing is left to read."""
        return self.stopping is not None and self.offset >= self.stopping


def position_of_flink(data: DataInput, version: int) -> PartitionPosition:
    """Read a split of Flink's KafkaSource.

    Raises:
        ValueError: it has no offset yet, or is of a version that is not known.
    """
    if version != _FLINKS_VERSION:
        raise ValueError(f"Kafka splits of version {version} are not known")
    topic, number = data.utf(), data.integer()
    offset, stopping = data.long(), data.long()
    if offset < 0 and offset != BEGINNING:
        raise ValueError(
            f"the partition {number} of the Kafka topic {topic!r} was not read yet: take a "
            "savepoint when every partition has begun"
        )
    return PartitionPosition(topic, number, offset, stopping if stopping >= 0 else None)


def find_partitions(subscription: Subscription, client: KafkaClient) -> list[Partition]:
    """Return the existing partitions of a subscription, sorted.

    Raises:
        LookupError: a topic or a partition that the subscription names does not exist.
    """
    if subscription.pattern is not None:
        matches = re.compile(subscription.pattern).fullmatch
        topics = client.ask(client.kafka.list_topics).topics
        names = [name for name in topics if matches(name) and not name.startswith("__")]
        return sorted(p for name in names for p in _partitions(topics[name]))
    wanted = subscription.partitions
    names = list(subscription.topics or sorted({topic for topic, _ in wanted}))
    existing = {p for name in names for p in _partitions_of(client, name)}
    missing = wanted - existing
    if missing:
        topic, number = min(missing)
        raise LookupError(f"the Kafka topic {topic!r} has no partition {number}")
    return sorted(wanted or existing)


def owner(partition: Partition, parallelism: int) -> int:
    """Return the index of the subtask that reads a partition, by Flink's formula."""
    topic, number = partition
    first = ((_java_hash(topic) * 31) & 0x7FFFFFFF) % parallelism
    return (first + number) % parallelism


def topic_partition(partition: Partition, *offset: Any) -> Any:
    """Return confluent_kafka's object for a partition.

    Args:
        partition: the partition.
        offset: an offset, and metadata for it; both may be left out.
    """
    return confluent_kafka().TopicPartition(*partition, *offset)


def _partitions_of(client: KafkaClient, topic: str) -> list[Partition]:
    metadata = client.ask(client.kafka.list_topics, topic).topics[topic]
    codes = confluent_kafka().KafkaError
    if metadata.error is not None:
        unknown = {codes.UNKNOWN_TOPIC_OR_PART, codes._UNKNOWN_TOPIC, codes._UNKNOWN_PARTITION}
        if metadata.error.code() in unknown:
            raise LookupError(f"there is no Kafka topic {topic!r}")
        raise RuntimeError(f"the Kafka topic {topic!r} cannot be read: {metadata.error.str()}")
    return list(_partitions(metadata))


def _partitions(metadata: Any) -> Iterable[Partition]:
    return ((metadata.topic, number) for number in metadata.partitions)


def _java_hash(text: str) -> int:
    value = 0
    for unit in memoryview(text.encode("utf-16-le")).cast("H"):
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value
