"""The source that reads Kinesis data streams."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.kinesis.client import make_client, note_unused
from pyflink_on_spark._connectors.kinesis.config import KinesisSourceConfig
from pyflink_on_spark._connectors.kinesis.reader import READER_PROPERTIES, ShardsReader
from pyflink_on_spark._connectors.kinesis.shards import (
    START_PROPERTIES,
    ShardPosition,
    Start,
    initial_positions,
    start_of,
)
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class StreamsSource(Source):
    """Reads streams; one subtask reads each shard. Timestamps are the times of arrival.

    Args:
        config: the settings of the source.

    Raises:
        ValueError: a property has an invalid value.
    """

    bounded = False
    timestamped = True

    def __init__(self, config: KinesisSourceConfig) -> None:
        start_of(config.properties)
        self._config = config
        self.produced_type = config.deserializer._produced_type()

    def splits(self, parallelism: int) -> list[list[ShardPosition]]:
        """Return all shards for each subtask, so that each subtask recognises new shards.

        Raises:
            KinesisError: a stream does not exist, or AWS does not answer.
        """
        note_unused(self._config.properties, {*START_PROPERTIES, *READER_PROPERTIES})
        with closing(make_client("kinesis", self._config.properties)) as client:
            return [initial_positions(client, self._config)] * parallelism

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        found = {position.key: position for share in splits for position in share}
        if restored is not None:
            known = {position.key: position for position in restored}
            # Shards that were created while the job did not run are read from their beginning.
            new = {
                key: ShardPosition(p.stream, p.shard, p.middle, Start.TRIM_HORIZON)
                for key, p in found.items()
                if key not in known
            }
            found = new | known
        return ShardsReader(self._config, list(found.values()), context)
