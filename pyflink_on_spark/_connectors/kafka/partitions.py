"""The partitions of topics: which there are, whose they are, how far they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._connectors.kafka.client import Client, confluent_kafka

Partition = tuple[str, int]
"""A topic's name and the number of one of its partitions."""

BEGINNING = -2
"""In the place of an offset: the first record there is. librdkafka's number for it."""


@dataclass(frozen=True)
class Position:
    """How far a partition is read.

    Args:
        topic: the topic's name.
        partition: the partition's number.
        offset: of the next record, or ``BEGINNING``.
        stopping: the offset before which reading ends; None: it does not.
        problem: why there is no offset to begin with, or None.
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


@dataclass(frozen=True)
class Subscription:
    """What to read: of the three exactly one.

    Args:
        topics: all partitions of these.
        pattern: all topics whose whole name matches.
        partitions: just these.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()

    def find(self, client: Client) -> list[Partition]:
        """Ask the cluster which partitions there are, in a fixed order.

        Raises:
            LookupError: a topic or partition is not there.
        """
        if self.pattern is not None:
            matches = re.compile(self.pattern).fullmatch
            found = client.ask(client.kafka.list_topics).topics
            names = [name for name in found if matches(name) and not name.startswith("__")]
            return sorted(p for name in names for p in _partitions(found[name]))
        names = list(self.topics or sorted({topic for topic, _ in self.partitions}))
        there = {p for name in names for p in _partitions_of(client, name)}
        missing = self.partitions - there
        if missing:
            topic, number = min(missing)
            raise LookupError(f"the Kafka topic {topic!r} has no partition {number}")
        return sorted(self.partitions or there)

    @property
    def can_grow(self) -> bool:
        """Whether partitions that are not there yet may belong to it."""
        return not self.partitions

    def covers(self, partition: Partition) -> bool:
        """Tell whether it asks for a partition."""
        topic = partition[0]
        if self.pattern is not None:
            return re.fullmatch(self.pattern, topic) is not None
        return topic in self.topics or partition in self.partitions


def owner(partition: Partition, parallelism: int) -> int:
    """Return which subtask reads a partition, as Flink deals them out."""
    topic, number = partition
    first = ((_java_hash(topic) * 31) & 0x7FFFFFFF) % parallelism
    return (first + number) % parallelism


def topic_partition(partition: Partition, *offset: Any) -> Any:
    """Return confluent_kafka's object for a partition, with an offset and metadata if given."""
    return confluent_kafka().TopicPartition(*partition, *offset)


def _partitions_of(client: Client, topic: str) -> list[Partition]:
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
