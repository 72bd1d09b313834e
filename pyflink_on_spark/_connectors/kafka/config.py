"""The settings of a Kafka source and of a Kafka sink."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from pyflink_on_spark._connectors.kafka.records import RecordMaker
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.user_code.user_function import UserFunction

_DISCOVERY_INTERVAL = 300_000
_AUTO_COMMIT_INTERVAL = 5_000

Partition = tuple[str, int]
"""The name of a topic and the number of one of its partitions."""

Reset = Literal["earliest", "latest", "none"]


@dataclass(frozen=True)
class Subscription:
    """The partitions that a source reads. Exactly one of the three is set.

    Args:
        topics: all partitions of these topics.
        pattern: all topics whose whole name matches this regular expression.
        partitions: exactly these partitions.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()

    @property
    def can_grow(self) -> bool:
        """True if the subscription may include partitions that do not exist yet."""
        return not self.partitions

    def covers(self, partition: Partition) -> bool:
        """True for a partition of the subscription."""
        topic = partition[0]
        if self.pattern is not None:
            return re.fullmatch(self.pattern, topic) is not None
        return topic in self.topics or partition in self.partitions


@dataclass(frozen=True)
class OffsetRule:
    """The rule for one offset in each partition.

    Args:
        kind: which offset.
        reset: what to use in a partition without such an offset; ``none`` fails the job.
        timestamp: for ``timestamp``: of the first record, in ms since the epoch.
        specified: for ``specified``: the offset of each partition.
    """

    kind: Literal["earliest", "latest", "committed", "timestamp", "specified"]
    reset: Reset = "none"
    timestamp: int = 0
    specified: Mapping[Partition, int] = field(default_factory=dict)


@dataclass(frozen=True)
class KafkaSourceConfig:
    """The settings of a Kafka source.

    Args:
        subscription: the partitions to read.
        starting: where reading begins.
        stopping: where reading ends, or None for a source that never ends.
        bounded: whether the job treats the source as bounded. An unbounded source may still have
            ``stopping`` offsets.
        deserializer: the deserialization schema of the records' values.
        produced_type: the type of the elements.
        properties: the properties of Kafka's Java consumer, as the user set them.
        commits_on_checkpoints: whether a complete checkpoint's offsets are committed to the group.
        keeps_restored: whether to read partitions of a restored checkpoint that the subscription
            does not cover.
        watermarks: how the source generates watermarks.
        whole_records: whether the deserializer gets the records of Kafka's client, not their
            values.
    """

    subscription: Subscription
    starting: OffsetRule
    stopping: OffsetRule | None
    bounded: bool
    deserializer: UserFunction
    produced_type: Any
    properties: Mapping[str, str] = field(repr=False)
    commits_on_checkpoints: bool = True
    keeps_restored: bool = True
    watermarks: WatermarkRule = field(default_factory=WatermarkRule)
    whole_records: bool = False

    @property
    def group(self) -> str | None:
        """The consumer group, or None."""
        return self.properties.get("group.id")

    @property
    def discovery_interval(self) -> int | None:
        """The time between two searches for new partitions, in ms; None for no search."""
        if self.bounded or not self.subscription.can_grow:
            return None
        default = _DISCOVERY_INTERVAL
        interval = int(self.properties.get("partition.discovery.interval.ms", default))
        return interval if interval > 0 else None

    @property
    def auto_commit_interval(self) -> int | None:
        """The time between two commits to the group without checkpoints, in ms; None for none."""
        asked = self.properties.get("enable.auto.commit", "false").strip().lower() == "true"
        interval = self.properties.get("auto.commit.interval.ms", _AUTO_COMMIT_INTERVAL)
        return int(interval) if asked and self.group is not None else None


class Guarantee(Enum):
    """The guarantee of a sink about records when the job fails and restarts."""

    NONE = "none"
    AT_LEAST_ONCE = "at least once"
    EXACTLY_ONCE = "exactly once"


@dataclass(frozen=True)
class KafkaSinkConfig:
    """The settings of a Kafka sink.

    Args:
        records: how elements become records.
        guarantee: what the sink promises about records when the job fails.
        transactional_id: identifies the sink in its cluster, for exactly once.
        properties: the properties of Kafka's Java producer, as the user set them.
        log_failures_only: whether the sink only logs a record that it cannot write.
        id_has_place: whether the names of the job and of the operator complete the transactional
            id, so that several sinks can share the setting.
    """

    records: RecordMaker
    guarantee: Guarantee
    transactional_id: str
    properties: Mapping[str, str] = field(repr=False)
    log_failures_only: bool = False
    id_has_place: bool = False
