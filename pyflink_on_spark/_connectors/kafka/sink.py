"""The sink that writes to Kafka topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._connectors.kafka.client import note_property
from pyflink_on_spark._connectors.kafka.patience import ShutdownBudget, patience_of
from pyflink_on_spark._connectors.kafka.period import TransactionBatch, PeriodWriter
from pyflink_on_spark._connectors.kafka.producer import RecordProducer
from pyflink_on_spark._connectors.kafka.producer_properties import (
    check_producer_properties,
)
from pyflink_on_spark._connectors.kafka.records import RecordRule
from pyflink_on_spark._connectors.kafka.transactions import Transactions

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


class Guarantee(Enum):
    """What becomes of records when a job fails and goes on."""

    NONE = "none"
    AT_LEAST_ONCE = "at least once"
    EXACTLY_ONCE = "exactly once"


@dataclass(frozen=True)
class KafkaSinkConfig:
    """What to write, and how.

    Args:
        records: how records are made.
        guarantee: what becomes of them when the job fails.
        transactional_id: names the sink in its cluster, for exactly once.
        properties: of Kafka's Java producer.
        log_failures_only: whether a record that cannot be written is only logged.
        id_has_place: whether the names of the job and the operator are part of the transactional
            id, too.
    """

    records: RecordRule
    guarantee: Guarantee
    transactional_id: str
    properties: Mapping[str, str] = field(repr=False)
    log_failures_only: bool = False
    id_has_place: bool = False


class KafkaRecordSink(Sink):
    """Writes each element as a record.

    Exactly once: what a subtask writes is kept until the checkpoint is safe, and travels with it to
    the driver, which writes all of it in one transaction. See ``Transactions``.

    Args:
        writing: what to write, and how.
        job: the job's name.
        operator: the sink's, in checkpoints.
    """

    def __init__(self, writing: KafkaSinkConfig, job: str = "", operator: str = "") -> None:
        self._writing, self._job, self._operator = writing, job, operator
        self._transactions: Transactions | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_transactions": None}

    def in_place(self, job: str, operator: str) -> Sink:
        """Return this sink for its place in a job."""
        return KafkaRecordSink(self._writing, job, operator)

    @property
    def transactional_id(self) -> str:
        """The name that transactions are written under, of which the cluster knows no other."""
        writing = self._writing
        place = f"-{self._job}-{self._operator}" if writing.id_has_place else ""
        return f"{writing.transactional_id}{place}"

    @property
    def claims(self) -> frozenset[str]:
        """The transactional id, at each of the cluster's addresses."""
        if not self._exactly_once:
            return frozenset()
        servers = self._writing.properties.get("bootstrap.servers", "").split(",")
        return frozenset(
            f"the Kafka transactional id {self.transactional_id!r} at {server.strip()} (set by "
            "set_transactional_id_prefix, or a FlinkKafkaProducer's property transactional.id)"
            for server in servers
        )

    @property
    def _exactly_once(self) -> bool:
        return self._writing.guarantee is Guarantee.EXACTLY_ONCE

    def with_input_type(self, type_info: Any) -> Sink:
        """Return itself; check in the driver that the client is there and takes its properties.

        Raises:
            TypeError: if the records' formats cannot write such a stream.
            ValueError: if the client refuses a property.
        """
        self._writing.records.check_input(type_info)
        check_producer_properties(self._writing.properties, note_property)
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask."""
        writing = self._writing
        if self._exactly_once:
            return PeriodWriter(writing.records, self.transactional_id, self._operator, context)
        return ProducingWriter(writing, context)

    def commit(self, committables: list[TransactionBatch]) -> None:
        """Write what a checkpoint has and is not written, in one transaction.

        What a run has prepared that had another transactional id is written under that.
        """
        periods: dict[str, list[TransactionBatch]] = {}
        for period in committables:
            named = period.transactional_id or self._writing.transactional_id
            periods.setdefault(named, []).append(period)
        own = periods.pop(self.transactional_id, None)
        for named, others in periods.items():
            with closing(Transactions(named, self._writing.properties)) as transactions:
                transactions.write(others)
        if own is not None:
            self._write(own)

    def take_over(self) -> None:
        """Take over the transactional id."""
        if self._exactly_once:
            self._end()
            self._begin()

    def job_ended(self) -> None:
        """Leave the cluster."""
        self._end()

    def _write(self, periods: list[TransactionBatch]) -> None:
        try:
            self._begin().write(periods)
        except BaseException:
            self._end()
            raise

    def _begin(self) -> Transactions:
        if self._transactions is None:
            self._transactions = Transactions(self.transactional_id, self._writing.properties)
        return self._transactions

    def _end(self) -> None:
        transactions, self._transactions = self._transactions, None
        if transactions is not None:
            transactions.close()


class ProducingWriter(SinkWriter):
    """Hands records to Kafka as they come.

    Args:
        writing: what to write, and how.
        context: the subtask's.
    """

    def __init__(self, writing: KafkaSinkConfig, context: OperatorContext) -> None:
        self._make = writing.records.maker()
        self._cursor = context.cursor
        self._waits = writing.guarantee is not Guarantee.NONE
        self._producer = RecordProducer(writing.properties, writing.log_failures_only)
        self._patience: ShutdownBudget | None = patience_of(context.task.job_id, context.task.attempt)
        self._failed = False

    def write(self, elements: Iterator[Any]) -> None:
        make, cursor = self._make, self._cursor
        try:
            self._producer.send(make(element, cursor.timestamp) for element in elements)
        except BaseException:
            self._failed = True
            raise
        self._producer.kafka.poll(0)
        self._producer.check()

    def prepare_commit(self) -> list[Any]:
        self._producer.flush()
        return []

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        if self._waits:
            self._producer.flush()
        return []

    def advance_processing_time(self, now: int) -> None:
        self._producer.kafka.poll(0)
        self._producer.check()

    def close(self) -> None:
        # A job that is stopped or cancelled may still have records under way.
        patience, self._patience = self._patience, None
        self._producer.close(None if self._failed else patience)
