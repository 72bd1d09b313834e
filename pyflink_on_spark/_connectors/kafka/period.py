"""What a subtask writes between two checkpoints, kept until the second one is safe."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.connector import SinkWriter
from pyflink_on_spark._connectors.kafka.records import Record, RecordRule

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

_FAST = 1
_topic = itemgetter(0)


@dataclass(frozen=True)
class TransactionBatch:
    """The records of one subtask and one checkpoint.

    Args:
        run: names the sink and the attempt of the job that made them; no others have the name.
        checkpoint: the number of the checkpoint that they belong to, or one before.
        frames: the records, in order, packed.
        transactional_id: under which they are to be written, also by a run that has another one;
            empty in checkpoints of long ago.
        topic: the first of their topics by name; empty in checkpoints of long ago.
    """

    run: str
    checkpoint: int
    frames: tuple[bytes, ...] = field(repr=False)
    transactional_id: str = ""
    topic: str = ""

    def records(self) -> Iterator[Record]:
        """Yield the records."""
        for frame in self.frames:
            yield from pickle.loads(zlib.decompress(frame))


class PeriodWriter(SinkWriter):
    """Packs records.

    Args:
        rule: how records are made.
        transactional_id: under which they will be written.
        operator: the name of the sink in its job.
        context: the subtask's.
    """

    def __init__(
        self, rule: RecordRule, transactional_id: str, operator: str, context: OperatorContext
    ) -> None:
        self._make, self._cursor = rule.maker(), context.cursor
        self._id = transactional_id
        self._run = _run(operator, context)
        self._topic = ""
        self._checkpoint = context.restored or 0
        self._frames: list[bytes] = []
        self._open: list[Record] = []

    def write(self, elements: Iterator[Any]) -> None:
        make, cursor = self._make, self._cursor
        records = (make(element, cursor.timestamp) for element in elements)
        while True:
            before = len(self._open)
            self._open.extend(islice(records, BUNDLE_SIZE))
            if len(self._open) == before:
                return
            if len(self._open) >= BUNDLE_SIZE:
                self._pack()

    def prepare_commit(self) -> list[TransactionBatch]:
        return self._take(self._checkpoint + 1)

    def prepare_checkpoint(self, checkpoint_id: int) -> list[TransactionBatch]:
        self._checkpoint = checkpoint_id
        return self._take(checkpoint_id)

    def _take(self, checkpoint: int) -> list[TransactionBatch]:
        if self._open:
            self._pack()
        if not self._frames:
            return []
        period = TransactionBatch(self._run, checkpoint, tuple(self._frames), self._id, self._topic)
        self._frames, self._topic = [], ""
        return [period]

    def _pack(self) -> None:
        first = min(map(_topic, self._open))
        self._topic = min(self._topic or first, first)
        self._frames.append(zlib.compress(pickle.dumps(self._open, 5), _FAST))
        self._open = []


def _run(operator: str, context: OperatorContext) -> str:
    task = context.task
    # Without checkpoints all is written at the end: by one attempt, even if another one follows.
    attempt = task.attempt if context.checkpointed else 0
    return f"{task.job_id[:16]}-{attempt}-{zlib.crc32(operator.encode()):08x}"
