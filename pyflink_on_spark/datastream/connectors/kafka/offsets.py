"""Where in a topic's partitions reading begins or ends."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, cast

from pyflink_on_spark._connectors.kafka.offsets import OffsetRule
from pyflink_on_spark._connectors.kafka.partitions import Subscription
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument


class KafkaTopicPartition:
    """One partition of a topic.

    Args:
        topic: the topic's name.
        partition: the partition, from 0.
    """

    def __init__(self, topic: str, partition: int):
        self._topic = topic
        self._partition = partition

    def __eq__(self, other):
        if not isinstance(other, KafkaTopicPartition):
            return False
        return (self._topic, self._partition) == (other._topic, other._partition)

    def __hash__(self):
        return hash((self._topic, self._partition))

    def __repr__(self) -> str:
        return f"KafkaTopicPartition({self._topic!r}, {self._partition!r})"


class KafkaOffsetResetStrategy(Enum):
    """Where to begin when the wanted offset does not exist.

    Attributes:
        LATEST: behind the last record.
        EARLIEST: at the first record there is.
        NONE: nowhere; the job fails.
    """

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class OffsetsKind(Enum):
    """The ways to name an offset in each partition."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    TIMESTAMP = "timestamp"
    SPECIFIED = "specified"


@dataclass(frozen=True)
class Offsets:
    """One offset in each partition.

    Attributes:
        kind: the way it is named.
        reset: what to do where there is no such offset.
        timestamp: for TIMESTAMP, of the first record to read, in ms since the epoch.
        specified: for SPECIFIED, the offset of the next record for partitions.
    """

    kind: OffsetsKind
    reset: KafkaOffsetResetStrategy
    timestamp: int | None = None
    specified: dict[KafkaTopicPartition, int] = field(default_factory=dict)

    def _rule(self) -> OffsetRule:
        """Return the same for the runtime."""
        return OffsetRule(
            self.kind.value,
            cast(Literal["earliest", "latest", "none"], self.reset.name.lower()),
            self.timestamp or 0,
            {(p._topic, p._partition): offset for p, offset in self.specified.items()},
        )


class KafkaOffsetsInitializer:
    """An offset in each partition, where reading begins or ends.

    Args:
        j_initializer: the offsets; the methods below make them.
    """

    def __init__(self, j_initializer: Any):
        call = "KafkaOffsetsInitializer(j_initializer)"
        self._offsets = own_handle(j_initializer, Offsets, call)

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Take what the consumer group has committed.

        Args:
            offset_reset_strategy: what to do where it has committed nothing.
        """
        reset = _strategy(offset_reset_strategy, "committed_offsets(offset_reset_strategy)")
        return KafkaOffsetsInitializer(Offsets(OffsetsKind.COMMITTED, reset))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Take the first record that is not older than a time.

        Args:
            timestamp: ms since the epoch.
        """
        since = argument(timestamp, int, "timestamp(timestamp)")
        reset = KafkaOffsetResetStrategy.NONE
        return KafkaOffsetsInitializer(Offsets(OffsetsKind.TIMESTAMP, reset, timestamp=since))

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Take the first record there is."""
        reset = KafkaOffsetResetStrategy.EARLIEST
        return KafkaOffsetsInitializer(Offsets(OffsetsKind.EARLIEST, reset))

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Take the place behind the last record, as it is when the job starts."""
        reset = KafkaOffsetResetStrategy.LATEST
        return KafkaOffsetsInitializer(Offsets(OffsetsKind.LATEST, reset))

    @staticmethod
    def offsets(
        offsets: dict[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Take offsets that are given.

        Args:
            offsets: the offset for each partition.
            offset_reset_strategy: what to do where an offset is out of range.
        """
        call = "offsets(offsets, offset_reset_strategy)"
        specified = {
            argument(partition, KafkaTopicPartition, call): argument(offset, int, call)
            for partition, offset in argument(offsets, dict, call).items()
        }
        reset = _strategy(offset_reset_strategy, call)
        return KafkaOffsetsInitializer(Offsets(OffsetsKind.SPECIFIED, reset, specified=specified))


def _strategy(strategy: Any, call: str) -> KafkaOffsetResetStrategy:
    return argument(strategy, KafkaOffsetResetStrategy, call)


def partitions_to_read(
    subscription: tuple[str, ...] | re.Pattern[str] | frozenset[KafkaTopicPartition],
) -> Subscription:
    """Return topics, a pattern or partitions for the runtime."""
    if isinstance(subscription, re.Pattern):
        return Subscription(pattern=subscription.pattern)
    if isinstance(subscription, frozenset):
        chosen = frozenset((p._topic, p._partition) for p in subscription)
        return Subscription(partitions=chosen)
    return Subscription(topics=subscription)
