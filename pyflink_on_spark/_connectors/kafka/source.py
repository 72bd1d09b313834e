"""The source that reads Kafka topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.kafka.client import consumer
from pyflink_on_spark._connectors.kafka.config import KafkaSourceConfig, Partition
from pyflink_on_spark._connectors.kafka.partitions import (
    BEGINNING,
    FUNCTION_STATE,
    OffsetLookup,
    PartitionPosition,
    find_partitions,
    owner,
    position_of_flink,
    position_of_function,
)
from pyflink_on_spark._connectors.kafka.properties import note_property
from pyflink_on_spark._connectors.kafka.reader import KafkaReader
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, WatermarkRule
from pyflink_on_spark._runtime.elements.watermark_rhythm import WatermarkRhythm
from pyflink_on_spark.common import Types

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector import FlinkSplits
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class KafkaSplitSource(Source):
    """Reads partitions of topics; one subtask reads each partition in order.

    A split is one subtask's list of ``PartitionPosition``, and so is a reader's snapshot.

    Args:
        config: the settings of the source.
    """

    takes_noted_times = True

    def __init__(self, config: KafkaSourceConfig) -> None:
        self._config = config
        self.timestamped = not config.watermarks.noted
        self.produced_type = config.produced_type
        self.already_typed = (
            self.produced_type == Types.STRING()
        )  # a decoder of text returns only str
        self.bounded = config.bounded

    def with_watermarks(self, rule: WatermarkRule) -> KafkaSplitSource:
        return KafkaSplitSource(replace(self._config, watermarks=rule))

    def with_rhythm(self, rhythm: WatermarkRhythm) -> KafkaSplitSource:
        """Return the same, emitting watermarks at the rhythm of the job."""
        return self.with_watermarks(replace(self._config.watermarks, rhythm=rhythm))

    def splits(self, parallelism: int) -> list[list[PartitionPosition]]:
        """Find the partitions, and where reading begins and ends in each.

        Raises:
            ConnectionError: the cluster does not answer.
            LookupError: a topic does not exist.
        """
        config = self._config
        client = consumer(config, note=note_property)
        try:
            partitions = find_partitions(config.subscription, client)
            offsets = OffsetLookup(client, config.group)
            positions = offsets.positions(partitions, config.starting, config.stopping)
        finally:
            client.close()
        shares: list[list[PartitionPosition]] = [[] for _ in range(parallelism)]
        for position in positions:
            shares[owner(position.key, parallelism)].append(position)
        return shares

    def positions_of_flink(self, found: FlinkSplits) -> list[Any]:
        elements = found.of_function.get(FUNCTION_STATE, ())
        return [
            *(position_of_flink(data, version) for version, data in found.splits),
            *map(position_of_function, elements),
        ]

    def positions_for_flink(self, positions: Sequence[Any]) -> tuple[int, bytes]:
        raise ValueError(
            "Flink's KafkaSource is not given positions: leave them out, and let the job of Flink "
            "begin at the offsets that the group has committed "
            "(KafkaOffsetsInitializer.committed_offsets)"
        )

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        share = {position.key: position for share in splits for position in share}
        if restored is not None:
            share = self._restored(share, restored, context)
        for position in share.values():
            if position.problem is not None:
                raise ValueError(position.problem)
        return KafkaReader(self._config, list(share.values()), context)

    def _restored(
        self,
        share: Mapping[Partition, PartitionPosition],
        restored: Sequence[PartitionPosition],
        context: OperatorContext,
    ) -> dict[Partition, PartitionPosition]:
        """Return the checkpoint's positions; newer partitions are read from their beginning."""
        config, task = self._config, context.task
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
            and (config.keeps_restored or config.subscription.covers(key))
        }
