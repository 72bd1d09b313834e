"""The partitions of topics: which exist, which subtask reads each, how far each is read."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._connectors.kafka.client import KafkaClient, confluent_kafka, consumer
from pyflink_on_spark._connectors.kafka.config import (
    KafkaSourceConfig,
    OffsetRule,
    Partition,
    Subscription,
)
from pyflink_on_spark._runtime.coders import DataInput

_FLINKS_VERSION = 0
FUNCTION_STATE = "topic-partition-offset-states"
"""The state in which a FlinkKafkaConsumer has its positions."""
_FROM_EARLIEST = -915623761775
"""The offset of a FlinkKafkaConsumer that stands for the first record of a partition."""
BEGINNING = -2
"""An offset that stands for the first record of a partition: librdkafka's own number for it."""


@dataclass(frozen=True)
class PartitionPosition:
    """The position of the reader in one partition.

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
        """True once nothing is left to read."""
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
        raise _not_read_yet(topic, number)
    return PartitionPosition(topic, number, offset, stopping if stopping >= 0 else None)


def position_of_function(element: object) -> PartitionPosition:
    """Read an element of the state of a FlinkKafkaConsumer, which has the last offset read.

    Raises:
        ValueError: it is damaged, or has no offset yet.
    """
    match element:
        case ((_, int(number), str(topic)), int(offset)) if number >= 0:
            if offset == _FROM_EARLIEST:
                return PartitionPosition(topic, number, BEGINNING)
            if offset < -1:
                raise _not_read_yet(topic, number)
            return PartitionPosition(topic, number, offset + 1)
    raise ValueError(f"the position {element!r} of a FlinkKafkaConsumer is damaged")


def _not_read_yet(topic: str, number: int) -> ValueError:
    return ValueError(
        f"the partition {number} of the Kafka topic {topic!r} was not read yet: take a savepoint "
        "when every partition has begun"
    )


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


def topic_partition(partition: Partition, *offset: object) -> Any:
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


class OffsetLookup:
    """Asks the cluster for the offsets that rules describe.

    Args:
        client: a consumer.
        group: the group whose committed offsets count; None if there is no group.
    """

    def __init__(self, client: KafkaClient, group: str | None) -> None:
        self._client, self._group = client, group

    def positions(
        self, partitions: Sequence[Partition], starting: OffsetRule, stopping: OffsetRule | None
    ) -> list[PartitionPosition]:
        """Return where reading begins and ends in each partition.

        Raises:
            ValueError: a partition has no offset at which reading ends.
        """
        begin = self._begin(partitions, starting)
        end = {} if stopping is None else self._end(partitions, stopping)
        return [
            PartitionPosition(*key, BEGINNING, end.get(key), self._no_offset(key))
            if offset is None
            else PartitionPosition(*key, offset, end.get(key))
            for key, offset in begin.items()
        ]

    def _begin(
        self, partitions: Sequence[Partition], rule: OffsetRule
    ) -> dict[Partition, int | None]:
        if rule.kind == "timestamp":
            return dict(self._since(partitions, rule.timestamp))
        known = _specified(partitions, rule)
        if rule.kind in {"committed", "specified"}:
            known |= self._committed([key for key in partitions if key not in known])
        return {key: known[key] if key in known else self._reset(key, rule) for key in partitions}

    def _end(self, partitions: Sequence[Partition], rule: OffsetRule) -> dict[Partition, int]:
        if rule.kind == "timestamp":
            return self._since(partitions, rule.timestamp)
        if rule.kind == "latest":
            return {key: self._latest(key) for key in partitions}
        if rule.kind == "earliest":
            raise ValueError("Invalid stopping offset: reading cannot end at the earliest record")
        known = _specified(partitions, rule)
        known |= self._committed([key for key in partitions if key not in known])
        for topic, number in partitions:
            if (topic, number) not in known:
                raise ValueError(
                    f"{topic}-{number} is to be read up to a committed offset, and the group "
                    f"{self._group!r} has committed none"
                )
        return known

    def _reset(self, key: Partition, rule: OffsetRule) -> int | None:
        if rule.kind == "latest" or (rule.kind != "earliest" and rule.reset == "latest"):
            return self._latest(key)
        return None if rule.kind != "earliest" and rule.reset == "none" else BEGINNING

    def _no_offset(self, key: Partition) -> str:
        return (
            f"there is no offset to begin with in {key[0]}-{key[1]}: the group {self._group!r} has "
            "committed none, and the offset reset strategy is NONE"
        )

    def _latest(self, key: Partition) -> int:
        ask = self._client.kafka.get_watermark_offsets
        high: int = self._client.ask(ask, topic_partition(key))[1]
        return high

    def _committed(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        wanted = [topic_partition(key) for key in partitions]
        if not wanted or self._group is None:
            return {}
        found = self._client.ask(self._client.kafka.committed, wanted)
        return {(p.topic, p.partition): p.offset for p in found if p.offset >= 0}

    def _since(self, partitions: Iterable[Partition], timestamp: int) -> dict[Partition, int]:
        wanted = [topic_partition(key, timestamp) for key in partitions]
        found = self._client.ask(self._client.kafka.offsets_for_times, wanted)
        after_the_last = {confluent_kafka().OFFSET_END, confluent_kafka().OFFSET_INVALID}
        return {
            (p.topic, p.partition): self._latest((p.topic, p.partition))
            if p.offset in after_the_last
            else p.offset
            for p in found
        }


def _specified(partitions: Sequence[Partition], rule: OffsetRule) -> dict[Partition, int]:
    return {key: rule.specified[key] for key in partitions if key in rule.specified}


_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_STOP = 1.0
_FROM_THE_BEGINNING = OffsetRule("earliest")


class Discovery:
    """Asks for partitions in a thread of its own, so that reading does not wait.

    Args:
        config: the settings of the source.
        known: the partitions of the subtask.
        owned: whether the subtask reads a partition.
        interval: the time between two searches, in ms.
        now: the processing time in ms.
    """

    def __init__(
        self,
        config: KafkaSourceConfig,
        known: Iterable[Partition],
        owned: Callable[[Partition], bool],
        interval: int,
        now: int,
    ) -> None:
        self._config, self._known, self._owned = config, set(known), owned
        self._interval, self._next = interval, now + interval
        self._answer: list[PartitionPosition] = []
        self._error: LookupError | ValueError | None = None
        self._thread: threading.Thread | None = None

    @classmethod
    def of(
        cls,
        config: KafkaSourceConfig,
        known: Iterable[Partition],
        owned: Callable[[Partition], bool],
        now: int,
    ) -> Discovery | None:
        """Return the discovery of a source, or None if the source reads a fixed set."""
        interval = config.discovery_interval
        return None if interval is None else cls(config, known, owned, interval, now)

    def found(self, now: int) -> list[PartitionPosition]:
        """Return the new partitions of the subtask, each of them once.

        Raises:
            LookupError: a topic was deleted.
            ValueError: a partition has no offset at which reading ends.
        """
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            if self._error is not None:
                raise self._error
            new, self._answer = self._answer, []
            self._known.update(position.key for position in new)
            return new
        if self._thread is None and now >= self._next:
            self._next = now + self._interval
            self._thread = threading.Thread(target=self._search, name="kafka-topics", daemon=True)
            self._thread.start()
        return []

    def stop(self) -> None:
        """Wait a moment for a search that is running."""
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_STOP)

    def _search(self) -> None:
        try:
            client = consumer(self._config, suffix="discovery")
            try:
                existing = find_partitions(self._config.subscription, client)
                new = [key for key in existing if key not in self._known and self._owned(key)]
                if new:
                    offsets = OffsetLookup(client, self._config.group)
                    stopping = self._config.stopping
                    self._answer = offsets.positions(new, _FROM_THE_BEGINNING, stopping)
            finally:
                client.close()
        except (LookupError, ValueError) as error:
            self._error = error
        except ConnectionError:
            pass  # the client has reported the loss
        except Exception as error:  # noqa: BLE001 - the next search may succeed
            _log.warning("the search for new Kafka partitions failed: %s", error)
