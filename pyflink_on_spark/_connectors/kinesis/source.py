"""The source that reads Kinesis data streams."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._connectors.kinesis.client import make_client, note_unused
from pyflink_on_spark._connectors.kinesis.options import KinesisReading
from pyflink_on_spark._connectors.kinesis.reader import READ_BY_READER, ShardsReader
from pyflink_on_spark._connectors.kinesis.shards import (
    READ_BY_BEGINNING,
    Begin,
    ShardPosition,
    beginning,
    initial_positions,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


class StreamsSource(Source):
    """All records of some streams, with the time of their arrival; each shard by one subtask.

    Args:
        reading: what it was told.

    Raises:
        ValueError: a property cannot be read.
    """

    bounded = False
    timestamped = True

    def __init__(self, reading: KinesisReading) -> None:
        beginning(reading.properties)
        self._reading = reading
        self.produced_type = reading.deserializer._produced_type()

    def splits(self, parallelism: int) -> list[list[ShardPosition]]:
        """Return, for each subtask, all shards: it picks its own, and recognises new ones.

        Raises:
            KinesisError: there is no such stream, or AWS does not answer.
        """
        note_unused(self._reading.properties, {*READ_BY_BEGINNING, *READ_BY_READER})
        with closing(make_client("kinesis", self._reading.properties)) as client:
            return [initial_positions(client, self._reading)] * parallelism

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return what reads one subtask's shards."""
        found = {position.key: position for share in splits for position in share}
        if restored is not None:
            known = {position.key: position for position in restored}
            # What came up while the job did not run is read from its beginning.
            new = {
                key: ShardPosition(p.stream, p.shard, p.middle, Begin.TRIM_HORIZON)
                for key, p in found.items()
                if key not in known
            }
            found = new | known
        return ShardsReader(self._reading, list(found.values()), context)
