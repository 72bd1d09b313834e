"""Where in partitions reading begins and ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pyflink_on_spark._connectors.kafka.client import Client, confluent_kafka
from pyflink_on_spark._connectors.kafka.partitions import (
    BEGINNING,
    Partition,
    Position,
    topic_partition,
)

Reset = Literal["earliest", "latest", "none"]


@dataclass(frozen=True)
class OffsetRule:
    """One offset for each partition.

    Args:
        kind: how it is found.
        reset: what to take where there is no such offset.
        timestamp: for ``timestamp``, in ms since the epoch.
        specified: for ``specified``.
    """

    kind: Literal["earliest", "latest", "committed", "timestamp", "specified"]
    reset: Reset = "none"
    timestamp: int = 0
    specified: Mapping[Partition, int] = field(default_factory=dict)


class Offsets:
    """Asks a cluster for offsets.

    Args:
        client: a consumer.
        group: whose committed offsets count; None: there is no group.
    """

    def __init__(self, client: Client, group: str | None) -> None:
        self._client, self._group = client, group

    def positions(
        self, partitions: Sequence[Partition], starting: OffsetRule, stopping: OffsetRule | None
    ) -> list[Position]:
        """Return from where to where each partition is to be read.

        Raises:
            ValueError: there is no offset to end at.
        """
        begin = self._begin(partitions, starting)
        end = {} if stopping is None else self._end(partitions, stopping)
        return [
            Position(*key, BEGINNING, end.get(key), self._complaint(key))
            if offset is None
            else Position(*key, offset, end.get(key))
            for key, offset in begin.items()
        ]

    def _begin(
        self, partitions: Sequence[Partition], rule: OffsetRule
    ) -> dict[Partition, int | None]:
        if rule.kind == "timestamp":
            return dict(self._since(partitions, rule.timestamp))
        known: dict[Partition, int] = {}
        if rule.kind == "specified":
            known = {key: rule.specified[key] for key in partitions if key in rule.specified}
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
        known: dict[Partition, int] = {}
        if rule.kind == "specified":
            known = {key: rule.specified[key] for key in partitions if key in rule.specified}
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

    def _complaint(self, key: Partition) -> str:
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
        behind = confluent_kafka().OFFSET_END
        return {
            (p.topic, p.partition): self._latest((p.topic, p.partition))
            if p.offset in {behind, confluent_kafka().OFFSET_INVALID}
            else p.offset
            for p in found
        }
