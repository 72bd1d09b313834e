"""The sink that writes to Kafka topics, and its writer."""

from __future__ import annotations

import contextlib
import logging
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from pyflink_on_spark._connectors.kafka.client import (
    KafkaClient,
    api_timeout,
    check_producer_properties,
    confluent_kafka,
)
from pyflink_on_spark._connectors.kafka.config import (
    Guarantee,
    KafkaSinkConfig,
    client_properties,
    note_property,
    producer_properties,
)
from pyflink_on_spark._connectors.kafka.partitions import topic_partition
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

    def prepare_commit(self) -> list[object]:
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


_SECONDS = 8.0
"""Less than the time that a process gets to end before it is killed."""
_budgets: WeakValueDictionary[tuple[str, int], ShutdownBudget] = WeakValueDictionary()
_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_WAIT = 0.1
_BETWEEN_POLLS = 1_000
_REMEMBERED_RUNS = 50
_ATTEMPTS = 3
_DEFAULTS = {
    "transaction.timeout.ms": "600000",
    # librdkafka 2.16 hangs in send_offsets_to_transaction if it bootstraps again meanwhile.
    "metadata.recovery.strategy": "none",
    # The records are on the storage of checkpoints: few of them have to be in memory.
    "queue.buffering.max.kbytes": "65536",
}


class ShutdownBudget:
    """Seconds that several writers spend one after the other.

    Args:
        seconds: the seconds for all writers together.
        clock: returns the time in seconds.
    """

    def __init__(
        self, seconds: float = _SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._left, self._clock = seconds, clock

    @contextmanager
    def spend(self) -> Iterator[float]:
        """Yield the seconds that are left, and subtract the duration of the block."""
        started = self._clock()
        try:
            yield max(0.0, self._left)
        finally:
            self._left -= self._clock() - started


def shutdown_budget_of(job_id: str, attempt: int) -> ShutdownBudget:
    """Return the budget that all writers of one attempt of a job share in this process.

    The budget lives as long as one of them refers to it.
    """
    return _budgets.setdefault((job_id, attempt), ShutdownBudget())


class RecordProducer:
    """A producer that raises an error for a record that it cannot write.

    Args:
        properties: of Kafka's Java producer.
        log_failures_only: whether to log such an error instead of raising it.
        settings: properties of librdkafka.
    """

    def __init__(
        self,
        properties: Mapping[str, str],
        log_failures_only: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self._log_failures_only = log_failures_only
        self._failure: Exception | None = None
        self._raised = self._closed = False
        self._topic: str | None = None
        self._kafka_exception: type[Exception] = confluent_kafka().KafkaException
        self.client = KafkaClient(
            "Producer",
            producer_properties(properties),
            api_timeout(properties),
            {
                "delivery.report.only.error": True,
                "on_delivery": self._failed,
                **(settings or {}),
            },
        )
        self.kafka = self.client.kafka
        self._produce = self.kafka.produce

    def send(self, records: Iterator[Record]) -> None:
        """Hand records to the client, which writes them in the background.

        Raises:
            RuntimeError: an earlier record could not be written.
        """
        produce = self._produce
        while True:
            record = None
            for record in islice(records, _BETWEEN_POLLS):
                topic, key, value, timestamp = record
                try:
                    produce(topic, value, key, timestamp=timestamp)
                except (BufferError, self._kafka_exception) as error:
                    self._not_taken(record, error)
            if record is None:
                return
            self._topic = record[0]
            self.serve()

    def serve(self) -> None:
        """Process the client's reports.

        Raises:
            RuntimeError: a record could not be written.
        """
        self.kafka.poll(0)
        self.check()

    def _not_taken(self, record: Record, error: Exception) -> None:
        """Try again until the queue has room, or note that the client refuses the record."""
        topic, key, value, timestamp = record
        while isinstance(error, BufferError):
            # Records in the queue are written, or fail after delivery.timeout.ms.
            self.kafka.poll(_SECONDS_TO_WAIT)
            self.check()
            try:
                self._produce(topic, value, key, timestamp=timestamp)
            except (BufferError, self._kafka_exception) as another:
                error = another
            else:
                return
        if error.args[0].fatal():
            raise error
        self._note_failure(error.args[0], topic)
        self.check()

    def flush(self) -> None:
        """Wait until all records are written.

        Raises:
            RuntimeError: a record could not be written.
        """
        while self.kafka.flush(_SECONDS_TO_WAIT):
            self.check()
        self.check()

    def check(self) -> None:
        """Raise an error that the client has reported in the background."""
        try:
            self.client.check(self._topic)
            if self._failure is not None:
                raise self._failure
        except Exception:
            self._raised = True
            raise

    def close(self, budget: ShutdownBudget | None = None) -> None:
        """Leave the cluster, and drop records that are not written.

        Args:
            budget: how long to wait for records in flight. None: not at all. The producer does not
                wait after an error that it has raised.

        Raises:
            RuntimeError: a record could not be written, and no error was raised for it before.
        """
        try:
            if budget is not None and not self._raised:
                with budget.spend() as seconds:
                    self._wait(seconds)
        finally:
            self._closed = True
            self.client.close()
            with contextlib.suppress(self._kafka_exception):  # its failure is known already
                self.kafka.purge()
                self.kafka.flush(_SECONDS_TO_WAIT)
            del self._produce

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + min(seconds, self.client.timeout)
        pause = min(seconds, _SECONDS_TO_WAIT)
        while left := self.kafka.flush(pause):
            self.check()
            if time.monotonic() >= deadline:
                _log.error("%d records were not written to Kafka at %s", left, self.client.servers)
                return
        self.check()

    def forget_failures(self) -> None:
        """Forget the records of an aborted transaction."""
        deadline = time.monotonic() + self.client.timeout
        while self.kafka.flush(_SECONDS_TO_WAIT) and time.monotonic() < deadline:
            pass
        self._failure = None

    def _failed(self, error: object, message: Any) -> None:
        if error is not None and not self._closed:
            self._note_failure(error, message.topic())

    def _note_failure(self, error: Any, topic: str) -> None:
        codes = confluent_kafka().KafkaError
        text = (
            f"a record of the Kafka topic {topic!r} could not be written to {self.client.servers}: "
            f"{error.str()}"
        )
        if error.code() in {codes._MSG_TIMED_OUT, codes._TIMED_OUT, codes._TRANSPORT}:
            text += " (delivery.timeout.ms says how long to try)"
        if self._log_failures_only:
            _log.error("%s", text)
        elif self._failure is None:
            unreachable = error.code() in {codes._MSG_TIMED_OUT, codes._TRANSPORT}
            self._failure = (ConnectionError if unreachable else RuntimeError)(text)


_CONNECTION_PROPERTIES = (
    "bootstrap.",
    "broker.",
    "client.",
    "sasl.",
    "security.",
    "socket.",
    "ssl.",
)


class Transactions:
    """Writes transactions under one transactional id, one after the other.

    A process cannot take over a transaction that another process has prepared. So a batch that may
    have been written already is written in four steps:

    1. *Fence*: ``init_transactions`` aborts an open transaction of the same transactional id, and
       shuts out its producer.
    2. *Read the markers*: a consumer group without members, ``<id>-written``, stores as the
       metadata of an offset up to which checkpoint each run of the job has written.
    3. *Write*: one transaction contains the records of all batches that have no marker yet, and a
       marker for each of them. The marker of a batch is at the batch's own first topic, because
       a later call may get only some of the batches.
    4. *Commit*: records and markers become visible together, or not at all.

    Args:
        transactional_id: identifies the sink in its cluster.
        properties: of Kafka's Java producer.

    Raises:
        ConnectionError: the cluster does not answer.
    """

    def __init__(self, transactional_id: str, properties: Mapping[str, str]) -> None:
        self._id = transactional_id
        settings = {**_defaults(properties), "transactional.id": transactional_id}
        self._producer = RecordProducer(properties, settings=settings)
        self._kafka = self._producer.kafka
        self._markers: dict[str, dict[str, int]] = {}
        self._group: KafkaClient | None = None
        try:
            self._persist(self._kafka.init_transactions)
            self._group = self._marker_group(properties)
        except BaseException:
            self.close()
            raise

    def write(self, batches: Sequence[TransactionBatch]) -> None:
        """Write the batches that are not written yet, all of them or none.

        Raises:
            ConnectionError: the cluster does not answer.
            RuntimeError: the cluster refuses a record, or another job has taken over the
                transactional id.
        """
        before = self._read_markers({batch.topic for batch in batches})
        # A marker at any topic says that the run has written all earlier checkpoints.
        done = {b.run: max(marks.get(b.run, 0) for marks in before.values()) for b in batches}
        todo = [batch for batch in batches if batch.checkpoint > done[batch.run]]
        if not todo:
            return
        # Topics of batches that are written already may be deleted.
        topics = sorted({batch.topic for batch in todo})
        markers = {topic: _with_batches(before[topic], todo) for topic in topics}
        for left in reversed(range(_ATTEMPTS)):
            if self._transact(todo, markers, is_last_attempt=left == 0):
                self._markers |= markers
                return

    def close(self) -> None:
        """Leave the cluster; an open transaction is aborted."""
        try:
            self._producer.close()
        finally:
            if self._group is not None:
                self._group.close()

    def _transact(
        self,
        batches: Sequence[TransactionBatch],
        markers: Mapping[str, Mapping[str, int]],
        is_last_attempt: bool,
    ) -> bool:
        """Run one transaction; return whether it is committed, and not aborted."""
        assert self._group is not None
        offset = max(batch.checkpoint for batch in batches)
        offsets = [
            topic_partition((topic, 0), offset, ",".join(f"{run}={n}" for run, n in marks.items()))
            for topic, marks in markers.items()
        ]
        group = self._group.kafka.consumer_group_metadata()
        try:
            self._kafka.begin_transaction()
            for batch in batches:
                self._producer.send(batch.records())
            self._producer.flush()
            self._persist(self._kafka.send_offsets_to_transaction, offsets, group)
            self._persist(self._kafka.commit_transaction)
        except confluent_kafka().KafkaException as raised:
            raise self._explained(raised.args[0]) from None
        except _AbortNeededError as aborted:
            self._abort()
            if is_last_attempt:
                raise RuntimeError(str(aborted)) from None
            return False
        except RuntimeError:
            self._abort()
            raise
        return True

    def _abort(self) -> None:
        self._persist(self._kafka.abort_transaction)
        self._producer.forget_failures()

    def _persist(self, call: Callable[..., object], *arguments: object) -> None:
        """Repeat a step of a transaction until the cluster has done it."""
        module, client = confluent_kafka(), self._producer.client
        deadline = time.monotonic() + client.timeout
        while True:
            try:
                call(*arguments, max(0.1, min(1.0, deadline - time.monotonic())))
            except module.KafkaException as raised:
                error = raised.args[0]
                if not error.fatal():
                    self._kafka.poll(0)
                    client.errors.check()
                if error.txn_requires_abort():
                    raise _AbortNeededError(f"a Kafka transaction failed: {error.str()}") from None
                if not error.retriable():
                    raise self._explained(error) from None
                if time.monotonic() >= deadline:
                    raise client.errors.not_reachable(client.timeout) from None
            else:
                client.errors.reachability.found()
                return

    def _explained(self, error: Any) -> RuntimeError:
        codes = confluent_kafka().KafkaError
        if error.code() in {codes._FENCED, codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_EPOCH}:
            return RuntimeError(
                f"another job writes to Kafka under the transactional id {self._id!r}"
            )
        return RuntimeError(f"a Kafka transaction failed: {error.str()}")

    def _marker_group(self, properties: Mapping[str, str]) -> KafkaClient:
        """Return a consumer of the group that stores the markers."""
        wanted = {
            key: value
            for key, value in client_properties(properties).items()
            if key.startswith(_CONNECTION_PROPERTIES)
        }
        wanted |= {"group.id": f"{self._id}-written", "isolation.level": "read_committed"}
        settings = {"enable.auto.commit": False}
        return KafkaClient("Consumer", wanted, api_timeout(properties), settings)

    def _read_markers(self, topics: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return, by topic, up to which checkpoint each run has written."""
        wanted = [topic_partition((topic, 0)) for topic in sorted(topics)]
        unknown = [partition for partition in wanted if partition.topic not in self._markers]
        if unknown:
            assert self._group is not None
            for found in self._group.ask(self._group.kafka.committed, unknown):
                self._markers[found.topic] = _parse_markers(found)
        return {partition.topic: self._markers[partition.topic] for partition in wanted}


def _defaults(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of librdkafka that the properties leave to this module."""
    given = client_properties(properties)
    return {key: value for key, value in _DEFAULTS.items() if key not in given}


def _with_batches(before: Mapping[str, int], batches: Iterable[TransactionBatch]) -> dict[str, int]:
    """Return the markers of a topic after some batches are written."""
    written = dict(before)
    for batch in batches:
        latest = max(batch.checkpoint, written.pop(batch.run, 0))
        written[batch.run] = latest  # at the end, where the latest runs are
    for run in list(written)[:-_REMEMBERED_RUNS]:
        del written[run]
    return written


def _parse_markers(found: Any) -> dict[str, int]:
    """Return up to which checkpoint each run has written, from the metadata of an offset."""
    # confluent-kafka also writes the NUL that ends a C string.
    text = (found.metadata or "").rstrip("\0") if found.offset >= 0 else ""
    pairs = (entry.rpartition("=") for entry in text.split(",") if entry)
    return {run: int(number) for run, _, number in pairs}


class _AbortNeededError(Exception):
    """The transaction cannot be committed, but the next one may be."""
