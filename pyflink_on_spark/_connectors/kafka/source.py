"""The source of the records of Kafka topics."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Source, SourceReader, WatermarkRule
from pyflink_on_spark._connectors.kafka.client import (
    Client,
    Note,
    api_timeout,
    not_noted,
    note_property,
)
from pyflink_on_spark._connectors.kafka.offsets import OffsetRule, Offsets
from pyflink_on_spark._connectors.kafka.partitions import (
    BEGINNING,
    Position,
    Subscription,
    owner,
)
from pyflink_on_spark._connectors.kafka.properties import client_properties
from pyflink_on_spark._connectors.kafka.reader import KafkaReader
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common import Types

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_DISCOVERY_INTERVAL = 300_000
_AUTO_COMMIT_INTERVAL = 5_000


@dataclass(frozen=True)
class KafkaSourceConfig:
    """What to read, and how.

    Args:
        subscription: which partitions.
        starting: where to begin.
        stopping: where to end; None: never.
        bounded: whether the source ends.
        deserializer: a deserialization schema.
        properties: of Kafka's Java consumer.
        commits_on_checkpoints: whether the group learns of a checkpoint's offsets.
        keeps_restored: whether partitions of a checkpoint are read that the subscription does not
            ask for.
        watermarks: how watermarks are made.
    """

    subscription: Subscription
    starting: OffsetRule
    stopping: OffsetRule | None
    bounded: bool
    deserializer: UserFunction
    properties: Mapping[str, str] = field(repr=False)
    commits_on_checkpoints: bool = True
    keeps_restored: bool = True
    watermarks: WatermarkRule = field(default_factory=WatermarkRule)

    @property
    def group(self) -> str | None:
        """The consumer group, or None."""
        return self.properties.get("group.id")

    @property
    def discovery_interval(self) -> int | None:
        """After how long (ms) to look for new partitions; None: never."""
        if self.bounded or not self.subscription.can_grow:
            return None
        default = _DISCOVERY_INTERVAL
        interval = int(self.properties.get("partition.discovery.interval.ms", default))
        return interval if interval > 0 else None

    @property
    def auto_commit_interval(self) -> int | None:
        """After how long (ms) the group learns of offsets without checkpoints; None: never."""
        asked = self.properties.get("enable.auto.commit", "false").strip().lower() == "true"
        interval = self.properties.get("auto.commit.interval.ms", _AUTO_COMMIT_INTERVAL)
        return int(interval) if asked and self.group is not None else None

    def consumer(self, suffix: str = "", note: Note = not_noted) -> Client:
        """Return a new consumer that has nothing to read yet.

        Args:
            suffix: ends the client's id.
            note: is told the name of each property without meaning here.
        """
        wanted = client_properties(self.properties, note)
        prefix = self.properties.get("client.id.prefix", self.group or "pyflink-on-spark")
        wanted.setdefault("client.id", f"{prefix}-{suffix}" if suffix else prefix)
        wanted.setdefault("group.id", f"pyflink-on-spark-{uuid.uuid4().hex[:12]}")
        # What Java's consumer does by default, and librdkafka does not:
        wanted.setdefault("isolation.level", "read_uncommitted")
        none = {"earliest": "earliest", "latest": "latest"}
        wanted["auto.offset.reset"] = none.get(self.starting.reset, "error")
        return Client(
            "Consumer",
            wanted,
            api_timeout(self.properties),
            {
                "enable.auto.commit": False,
                "enable.partition.eof": self.stopping is not None,
                "allow.auto.create.topics": False,
            },
            note,
        )


class KafkaSplitSource(Source):
    """The records of some partitions, each read in order by one subtask.

    Args:
        reading: what to read, and how.
        produced_type: the type of the elements.
    """

    timestamped = True

    def __init__(self, reading: KafkaSourceConfig, produced_type: Any) -> None:
        self._reading = reading
        self.produced_type = produced_type
        self.conforms = produced_type == Types.STRING()  # what decodes texts makes nothing else
        self.bounded = reading.bounded

    def with_watermarks(self, rule: WatermarkRule) -> KafkaSplitSource:
        """Return the same with watermarks."""
        return KafkaSplitSource(replace(self._reading, watermarks=rule), self.produced_type)

    def splits(self, parallelism: int) -> list[list[Position]]:
        """Find the partitions, and where to begin and end in each; return each subtask's share.

        Raises:
            ConnectionError: the cluster does not answer.
            LookupError: there is no such topic.
        """
        reading = self._reading
        client = reading.consumer(note=note_property)
        try:
            partitions = reading.subscription.find(client)
            offsets = Offsets(client, reading.group)
            positions = offsets.positions(partitions, reading.starting, reading.stopping)
        finally:
            client.kafka.close()
        shares: list[list[Position]] = [[] for _ in range(parallelism)]
        for position in positions:
            shares[owner(position.key, parallelism)].append(position)
        return shares

    def reader(
        self,
        splits: Sequence[Any],
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> SourceReader:
        """Return what reads one subtask's partitions."""
        share = {position.key: position for share in splits for position in share}
        if restored is not None:
            share = self._restored(share, restored, context)
        for position in share.values():
            if position.problem is not None:
                raise ValueError(position.problem)
        return KafkaReader(self._reading, list(share.values()), context)

    def _restored(
        self, share: Mapping[Any, Position], restored: Sequence[Position], context: OperatorContext
    ) -> dict[Any, Position]:
        """Return where a checkpoint goes on; what came up since then is read from its beginning."""
        reading, task = self._reading, context.task
        known = {p.key: p for p in restored}
        new = {
            key: replace(p, offset=BEGINNING, problem=None)
            for key, p in share.items()
            if key not in known
        }
        return new | {
            key: position
            for key, position in known.items()
            if owner(key, task.parallelism) == task.subtask_index
            and (reading.keeps_restored or reading.subscription.covers(key))
        }
