"""The records of one checkpoint, kept until the checkpoint is complete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyflink_on_spark._connectors.kafka.records import Record
from pyflink_on_spark._runtime.contract.connector import LargeCommittable
from pyflink_on_spark._runtime.contract.connector.large_committable import unpack


@dataclass(frozen=True)
class TransactionBatch(LargeCommittable):
    """The records that one subtask writes with one checkpoint: the committable of the sink.

    The frames contain the records in order.

    Args:
        run: identifies the sink and the attempt of the job that made the records.
        checkpoint: the checkpoint that the records belong to, or an earlier one.
        transactional_id: the id under which to write the records, whatever the id of the sink that
            commits them.
        topic: the first topic of the records, by name.
    """

    run: str
    checkpoint: int
    transactional_id: str
    topic: str

    def records(self) -> Iterator[Record]:
        """Yield the records in order."""
        for frame in self.frames:
            yield from unpack(frame)
