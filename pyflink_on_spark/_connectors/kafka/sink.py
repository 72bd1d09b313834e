"""The sink that writes to Kafka topics."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.kafka.client import check_producer_properties
from pyflink_on_spark._connectors.kafka.config import Guarantee, KafkaSinkConfig
from pyflink_on_spark._connectors.kafka.properties import note_property
from pyflink_on_spark._connectors.kafka.records import TransactionBatch
from pyflink_on_spark._connectors.kafka.transactions import Transactions
from pyflink_on_spark._connectors.kafka.writer import KafkaWriter, TransactionBatchWriter
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


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

    def __getstate__(self) -> dict[str, Any]:
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

    def with_input_type(self, type_info: Any) -> Sink:
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
