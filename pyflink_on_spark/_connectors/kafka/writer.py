"""Writes to Kafka topics from one subtask."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.kafka.config import Guarantee, KafkaSinkConfig
from pyflink_on_spark._connectors.kafka.producer import (
    RecordProducer,
    ShutdownBudget,
    shutdown_budget_of,
)
from pyflink_on_spark._connectors.kafka.records import Record, RecordMaker, TransactionBatch
from pyflink_on_spark._runtime.contract.connector import SinkWriter
from pyflink_on_spark._runtime.contract.connector.sink import pack
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_topic = itemgetter(0)


class KafkaWriter(SinkWriter):
    """Hands records to Kafka's client as they arrive: at least once, or without a guarantee.

    Args:
        config: the settings of the sink.
        context: the context of the subtask.
    """

    def __init__(self, config: KafkaSinkConfig, context: OperatorContext) -> None:
        self._serialize = config.records.serializer()
        self._cursor = context.cursor
        self._waits = config.guarantee is not Guarantee.NONE
        self._producer = RecordProducer(config.properties, config.log_failures_only)
        task = context.task
        self._budget: ShutdownBudget | None = shutdown_budget_of(task.job_id, task.attempt)
        self._failed = False

    def write(self, elements: Iterator[Any]) -> None:
        serialize, cursor = self._serialize, self._cursor
        try:
            self._producer.send(serialize(element, cursor.timestamp) for element in elements)
        except BaseException:
            self._failed = True
            raise
        self._producer.serve()

    def prepare_commit(self) -> list[Any]:
        self._producer.flush()
        return []

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        if self._waits:
            self._producer.flush()
        return []

    def advance_processing_time(self, now: int) -> None:
        self._producer.serve()

    def close(self) -> None:
        # A job that is stopped or cancelled may still have records in flight.
        budget, self._budget = self._budget, None
        self._producer.close(None if self._failed else budget)


class TransactionBatchWriter(SinkWriter):
    """Packs records into committables: exactly once.

    Args:
        records: how elements become records.
        transactional_id: the id under which the driver writes the records.
        operator: the name of the sink in its job.
        context: the context of the subtask.
    """

    def __init__(
        self, records: RecordMaker, transactional_id: str, operator: str, context: OperatorContext
    ) -> None:
        self._serialize, self._cursor = records.serializer(), context.cursor
        self._id = transactional_id
        self._run = _run(operator, context)
        self._topic = ""
        self._checkpoint = context.restored or 0
        self._frames: list[bytes] = []
        self._open: list[Record] = []

    def write(self, elements: Iterator[Any]) -> None:
        serialize, cursor = self._serialize, self._cursor
        records = (serialize(element, cursor.timestamp) for element in elements)
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
        batch = TransactionBatch(tuple(self._frames), self._run, checkpoint, self._id, self._topic)
        self._frames, self._topic = [], ""
        return [batch]

    def _pack(self) -> None:
        first = min(map(_topic, self._open))
        self._topic = min(self._topic or first, first)
        self._frames += pack(self._open, compressed=True)
        self._open = []


def _run(operator: str, context: OperatorContext) -> str:
    task = context.task
    # Without checkpoints the driver writes all records at the end of the job. If that succeeds and
    # another sink fails, the next attempt must recognise them.
    attempt = task.attempt if context.checkpointed else 0
    return f"{task.job_id[:16]}-{attempt}-{zlib.crc32(operator.encode()):08x}"
