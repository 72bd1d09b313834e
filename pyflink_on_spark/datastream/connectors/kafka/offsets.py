"""The offsets at which reading the partitions of a topic begins or ends."""

from __future__ import annotations

from enum import Enum
from typing import cast

from pyflink_on_spark._connectors.kafka.config import OffsetRule, Reset
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument


class KafkaTopicPartition:
    """One partition of a topic.

    Args:
        topic: the name of the topic.
        partition: the number of the partition, from 0.
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
    """The offset at which reading begins where the requested one does not exist.

    Attributes:
        LATEST: after the last record.
        EARLIEST: at the first record.
        NONE: nowhere; the job fails.
    """

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class KafkaOffsetsInitializer:
    """One offset in each partition, at which reading begins or ends.

    Args:
        j_initializer: made by the static methods of this class.
    """

    def __init__(self, j_initializer: object):
        call = "KafkaOffsetsInitializer(j_initializer)"
        self._rule = own_handle(j_initializer, OffsetRule, call)

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Use the offsets that the consumer group has committed.

        Args:
            offset_reset_strategy: what to do in a partition without a committed offset.
        """
        reset = _reset(offset_reset_strategy, "committed_offsets(offset_reset_strategy)")
        return KafkaOffsetsInitializer(OffsetRule("committed", reset))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Use the first record with this timestamp or a later one.

        Args:
            timestamp: ms since the epoch.
        """
        since = argument(timestamp, int, "timestamp(timestamp)")
        return KafkaOffsetsInitializer(OffsetRule("timestamp", timestamp=since))

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Use the first record of each partition."""
        return KafkaOffsetsInitializer(OffsetRule("earliest", "earliest"))

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Use the end of each partition at the time when the job starts."""
        return KafkaOffsetsInitializer(OffsetRule("latest", "latest"))

    @staticmethod
    def offsets(
        offsets: dict[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Use the given offsets.

        Args:
            offsets: the offset of each partition.
            offset_reset_strategy: what to do in a partition where the offset is out of range.
        """
        call = "offsets(offsets, offset_reset_strategy)"
        specified = {}
        for partition, offset in argument(offsets, dict, call).items():
            key = argument(partition, KafkaTopicPartition, call)
            specified[key._topic, key._partition] = argument(offset, int, call)
        reset = _reset(offset_reset_strategy, call)
        return KafkaOffsetsInitializer(OffsetRule("specified", reset, specified=specified))


def _reset(strategy: object, call: str) -> Reset:
    return cast("Reset", argument(strategy, KafkaOffsetResetStrategy, call).name.lower())
