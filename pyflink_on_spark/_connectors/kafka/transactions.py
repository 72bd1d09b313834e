"""Writes what checkpoints have, each in one transaction and once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pyflink_on_spark._connectors.kafka.client import Client, api_timeout, confluent_kafka
from pyflink_on_spark._connectors.kafka.partitions import topic_partition
from pyflink_on_spark._connectors.kafka.period import TransactionBatch
from pyflink_on_spark._connectors.kafka.producer import RecordProducer
from pyflink_on_spark._connectors.kafka.properties import client_properties

_REMEMBERED_RUNS = 50
_TRIES = 3
_DEFAULTS = {
    "transaction.timeout.ms": "600000",
    # librdkafka 2.16 hangs in send_offsets_to_transaction if it finds its brokers anew meanwhile.
    "metadata.recovery.strategy": "none",
}
_OF_CONNECTIONS = ("bootstrap.", "broker.", "client.", "sasl.", "security.", "socket.", "ssl.")


class Transactions:
    """One transaction after the other, under one transactional id.

    Each transaction also commits, as the offset and the metadata of a consumer group that nobody is
    a member of, which run of the job has written up to which checkpoint: at a topic of each period,
    where whoever has only some of the periods will look. Whoever has to write a checkpoint again,
    after a failure at whatever moment, first takes over the transactional id: that ends an open
    transaction and shuts out whoever had it before. Then the group says whether the checkpoint is
    written.

    Args:
        transactional_id: names the sink in its cluster.
        properties: of Kafka's Java producer.

    Raises:
        ConnectionError: the cluster does not answer.
    """

    def __init__(self, transactional_id: str, properties: Mapping[str, str]) -> None:
        self._id = transactional_id
        settings = {key: value for key, value in _DEFAULTS.items() if key not in properties}
        settings["transactional.id"] = transactional_id
        self._producer = RecordProducer(properties, settings=settings)
        self._kafka = self._producer.kafka
        self._written: dict[str, dict[str, int]] = {}
        self._group: Client | None = None
        try:
            self._persist(self._kafka.init_transactions)
            self._group = self._marker(properties)
        except BaseException:
            self.close()
            raise

    def write(self, periods: Sequence[TransactionBatch]) -> None:
        """Write what is not written yet of some periods, all or nothing.

        Raises:
            ConnectionError: the cluster does not answer.
            RuntimeError: a record is refused, or another job has taken over the transactional id.
        """
        found = [(period, _marked_topic(period)) for period in periods]
        placed = [(period, topic) for period, topic in found if topic is not None]
        before = self._written_to({topic for _, topic in placed})
        # A mark at any topic says that the run has written all before it.
        done = {p.run: max(marks.get(p.run, 0) for marks in before.values()) for p, _ in placed}
        rest = [(period, topic) for period, topic in placed if period.checkpoint > done[period.run]]
        if not rest:
            return
        todo = [period for period, _ in rest]
        # Not at topics of what is written already: they may be gone.
        topics = sorted({topic for _, topic in rest})
        written = {topic: _with_periods(before[topic], todo) for topic in topics}
        for left in reversed(range(_TRIES)):
            if self._transact(todo, written, give_up=left == 0):
                self._written |= written
                return

    def close(self) -> None:
        """Leave the cluster; an open transaction is given up."""
        try:
            self._producer.close()
        finally:
            if self._group is not None:
                self._group.kafka.close()

    def _transact(
        self, periods: Sequence[TransactionBatch], written: Mapping[str, Mapping[str, int]], give_up: bool
    ) -> bool:
        """Run one transaction; return whether it was committed, and not aborted."""
        assert self._group is not None
        offset = max(period.checkpoint for period in periods)
        offsets = [
            topic_partition((topic, 0), offset, ",".join(f"{run}={n}" for run, n in marks.items()))
            for topic, marks in written.items()
        ]
        group = self._group.kafka.consumer_group_metadata()
        try:
            self._kafka.begin_transaction()
            for period in periods:
                self._producer.send(period.records())
            self._producer.flush()
            self._persist(self._kafka.send_offsets_to_transaction, offsets, group)
            self._persist(self._kafka.commit_transaction)
        except confluent_kafka().KafkaException as raised:
            raise self._meaning(raised.args[0]) from None
        except _AbortNeededError as aborted:
            self._abort()
            if give_up:
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
        """Call something of a transaction until it is done."""
        module = confluent_kafka()
        timeout = self._producer.client.timeout
        deadline = time.monotonic() + timeout
        while True:
            try:
                call(*arguments, max(0.1, min(1.0, deadline - time.monotonic())))
            except module.KafkaException as raised:
                error = raised.args[0]
                if not error.fatal():
                    self._kafka.poll(0)
                    self._producer.client.problems.check()
                if error.txn_requires_abort():
                    raise _AbortNeededError(f"a Kafka transaction failed: {error.str()}") from None
                if not error.retriable():
                    raise self._meaning(error) from None
                if time.monotonic() >= deadline:
                    raise self._producer.client.problems.not_reachable(timeout) from None
            else:
                return

    def _meaning(self, error: Any) -> RuntimeError:
        codes = confluent_kafka().KafkaError
        if error.code() in {codes._FENCED, codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_EPOCH}:
            return RuntimeError(
                f"another job writes to Kafka under the transactional id {self._id!r}"
            )
        return RuntimeError(f"a Kafka transaction failed: {error.str()}")

    def _marker(self, properties: Mapping[str, str]) -> Client:
        wanted = {
            key: value
            for key, value in client_properties(properties).items()
            if key.startswith(_OF_CONNECTIONS)
        }
        wanted |= {"group.id": f"{self._id}-written", "isolation.level": "read_committed"}
        settings = {"enable.auto.commit": False}
        return Client("Consumer", wanted, api_timeout(properties), settings)

    def _written_to(self, topics: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return up to which checkpoint each run has written, as its markers at topics say."""
        wanted = [topic_partition((topic, 0)) for topic in sorted(topics)]
        unknown = [partition for partition in wanted if partition.topic not in self._written]
        if unknown:
            assert self._group is not None
            for found in self._group.ask(self._group.kafka.committed, unknown):
                self._written[found.topic] = _marks(found)
        return {partition.topic: self._written[partition.topic] for partition in wanted}


def _marked_topic(period: TransactionBatch) -> str | None:
    """Return the topic at which it is noted that a period is written.

    It does not depend on other periods: the next time it may come with other ones.
    """
    return period.topic or next((record[0] for record in period.records()), None)


def _with_periods(before: Mapping[str, int], periods: Iterable[TransactionBatch]) -> dict[str, int]:
    """Return the marks of a topic once some periods are written, too."""
    written = dict(before)
    for period in periods:
        latest = max(period.checkpoint, written.pop(period.run, 0))
        written[period.run] = latest  # behind the others, as the latest
    for run in list(written)[:-_REMEMBERED_RUNS]:
        del written[run]
    return written


def _marks(found: Any) -> dict[str, int]:
    """Return up to which checkpoint each run has written, as the metadata of an offset say."""
    # confluent-kafka writes the NUL behind a text, too.
    text = (found.metadata or "").rstrip("\0") if found.offset >= 0 else ""
    pairs = (entry.rpartition("=") for entry in text.split(",") if entry)
    return {run: int(number) for run, _, number in pairs}


class _AbortNeededError(Exception):
    """The transaction cannot be committed, another one may."""
