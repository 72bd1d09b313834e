"""Writes the records of checkpoints in transactions, each record once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pyflink_on_spark._connectors.kafka.client import KafkaClient, api_timeout, confluent_kafka
from pyflink_on_spark._connectors.kafka.partitions import topic_partition
from pyflink_on_spark._connectors.kafka.producer import RecordProducer
from pyflink_on_spark._connectors.kafka.properties import client_properties
from pyflink_on_spark._connectors.kafka.records import TransactionBatch

_REMEMBERED_RUNS = 50
_ATTEMPTS = 3
_DEFAULTS = {
    "transaction.timeout.ms": "600000",
    # librdkafka 2.16 hangs in send_offsets_to_transaction if it bootstraps again meanwhile.
    "metadata.recovery.strategy": "none",
    # The records are on the storage of checkpoints: few of them have to be in memory.
    "queue.buffering.max.kbytes": "65536",
}
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

    def _persist(self, call: Callable[..., Any], *arguments: Any) -> None:
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
