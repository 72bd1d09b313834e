"""The records of one checkpoint, kept until the checkpoint is complete."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyflink_on_spark._connectors.kafka.records import Record

_FAST = 1


@dataclass(frozen=True)
class TransactionBatch:
    """The records that one subtask writes with one checkpoint: the committable of the sink.

    Args:
        run: identifies the sink and the attempt of the job that made the records.
        checkpoint: the checkpoint that the records belong to, or an earlier one.
        frames: the records in order, each frame made by ``pack``.
        transactional_id: the id under which to write the records, whatever the id of the sink that
            commits them.
        topic: the first topic of the records, by name.
    """

    run: str
    checkpoint: int
    frames: tuple[bytes, ...] = field(repr=False)
    transactional_id: str
    topic: str

    def records(self) -> Iterator[Record]:
        """Yield the records in order."""
        for frame in self.frames:
            yield from pickle.loads(zlib.decompress(frame))


def pack(records: Sequence[Record]) -> bytes:
    """Return records as one frame of a batch."""
    return zlib.compress(pickle.dumps(records, 5), _FAST)
