"""The offsets at which reading begins and ends in each partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyflink_on_spark._connectors.kafka.client import KafkaClient, confluent_kafka
from pyflink_on_spark._connectors.kafka.config import OffsetRule, Partition
from pyflink_on_spark._connectors.kafka.partitions import (
    BEGINNING,
    PartitionPosition,
    topic_partition,
)


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
