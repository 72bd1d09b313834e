"""The sink that writes to Kafka topics, and its writer."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.kafka.client import check_producer_properties
from pyflink_on_spark._connectors.kafka.config import Guarantee, KafkaSinkConfig, note_property
from pyflink_on_spark._connectors.kafka.producer import (
    RecordProducer,
    ShutdownBudget,
    Transactions,
    shutdown_budget_of,
)
from pyflink_on_spark._connectors.kafka.records import Record, RecordMaker, TransactionBatch
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter, pack
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

_topic = itemgetter(0)


class KafkaRecordSink(Sink):
    """Writes each element as a record.

    With ``Guarantee.EXACTLY_ONCE`` the writers write nothing: their committables are the records,
    which hosts store in the folder of the checkpoint. When the checkpoint is complete, the driver
    writes the records of all subtasks in one transaction; see ``Transactions``.

    Args:
        config: the settings of the sink.
        job: the name of the job.
        operator: the name of the sink in checkpoints.
    """

    flink_commits = True

    def __init__(self, config: KafkaSinkConfig, job: str = "", operator: str = "") -> None:
        self._config, self._job, self._operator = config, job, operator
        self._transactions: Transactions | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_transactions": None}

    def in_place(self, job: str, operator: str) -> Sink:
        return KafkaRecordSink(self._config, job, operator)

    @property
    def transactional_id(self) -> str:
        """The id under which the sink writes transactions."""
        config = self._config
        place = f"-{self._job}-{self._operator}" if config.id_has_place else ""
        return f"{config.transactional_id}{place}"

    @property
    def claims(self) -> frozenset[str]:
        """The transactional id, at each address of the cluster."""
        if not self._exactly_once:
            return frozenset()
        servers = self._config.properties.get("bootstrap.servers", "").split(",")
        return frozenset(
            f"the Kafka transactional id {self.transactional_id!r} at {server.strip()} (set by "
            "set_transactional_id_prefix, or a FlinkKafkaProducer's property transactional.id)"
            for server in servers
        )

    @property
    def _exactly_once(self) -> bool:
        return self._config.guarantee is Guarantee.EXACTLY_ONCE

    def with_input_type(self, type_info: TypeInformation | None) -> Sink:
        """Check in the driver that the client is installed and takes its properties.

        Raises:
            TypeError: the schemas cannot serialize the elements of such a stream.
            ValueError: the client refuses a property.
        """
        self._config.records.check_input(type_info)
        check_producer_properties(self._config.properties, note_property)
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        config = self._config
        if self._exactly_once:
            return TransactionBatchWriter(
                config.records, self.transactional_id, self._operator, context
            )
        return KafkaWriter(config, context)

    def commit(self, committables: list[TransactionBatch]) -> None:
        """Write the batches that are not written yet, in one transaction per transactional id.

        A batch is written under the transactional id with which it was made.
        """
        batches: dict[str, list[TransactionBatch]] = {}
        for batch in committables:
            batches.setdefault(batch.transactional_id, []).append(batch)
        own = batches.pop(self.transactional_id, None)
        for transactional_id, others in batches.items():
            with closing(Transactions(transactional_id, self._config.properties)) as transactions:
                transactions.write(others)
        if own is not None:
            self._write(own)

    def take_over(self) -> None:
        """Fence earlier producers of the transactional id."""
        if self._exactly_once:
            self._end()
            self._begin()

    def job_ended(self) -> None:
        self._end()

    def _write(self, batches: list[TransactionBatch]) -> None:
        try:
            self._begin().write(batches)
        except BaseException:
            self._end()
            raise

    def _begin(self) -> Transactions:
        if self._transactions is None:
            self._transactions = Transactions(self.transactional_id, self._config.properties)
        return self._transactions

    def _end(self) -> None:
        transactions, self._transactions = self._transactions, None
        if transactions is not None:
            transactions.close()


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

    def write(self, elements: Iterator[object]) -> None:
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

    def prepare_checkpoint(self, checkpoint_id: int) -> list[object]:
        if self._waits:
            self._producer.flush()
        return []

    def advance_processing_time(self, now: int) -> None:
        self._producer.serve()

    def next_processing_time(self) -> int | None:
        """Return a time that is over while records may be in flight."""
        return None if self._waits else 0

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

    def write(self, elements: Iterator[object]) -> None:
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
