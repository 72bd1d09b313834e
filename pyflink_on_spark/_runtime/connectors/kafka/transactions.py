"""Writes what checkpoints have, each in one transaction and once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyflink_on_spark._runtime.connectors.kafka.client import Client, api_timeout, confluent_kafka
from pyflink_on_spark._runtime.connectors.kafka.partitions import topic_partition
from pyflink_on_spark._runtime.connectors.kafka.period import Period
from pyflink_on_spark._runtime.connectors.kafka.producer import RecordProducer
from pyflink_on_spark._runtime.connectors.kafka.properties import client_properties

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
    a member of, which run of the job has written up to which checkpoint. Whoever has to write a
    checkpoint again, after a failure at whatever moment, first takes over the transactional id:
    that ends an open transaction and shuts out whoever had it before. Then the group says whether
    the checkpoint is written.

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

    def write(self, periods: Sequence[Period]) -> None:
        """Write what is not written yet of some periods, all or nothing.

        Raises:
            ConnectionError: the cluster does not answer.
            RuntimeError: a record is refused, or another job has taken over the transactional id.
        """
        topic = _marked_topic(periods)
        if topic is None:
            return
        before = self._written_to(topic)
        todo = [p for p in periods if p.checkpoint > before.get(p.run, 0)]
        if not todo:
            return
        written = dict(before)
        for period in todo:
            latest = max(period.checkpoint, written.pop(period.run, 0))
            written[period.run] = latest  # behind the others, as the latest
        for run in list(written)[:-_REMEMBERED_RUNS]:
            del written[run]
        for left in reversed(range(_TRIES)):
            if self._transact(topic, todo, written, give_up=left == 0):
                self._written[topic] = written
                return

    def close(self) -> None:
        """Leave the cluster; an open transaction is given up."""
        try:
            self._producer.close()
        finally:
            if self._group is not None:
                self._group.kafka.close()

    def _transact(
        self, topic: str, periods: Sequence[Period], written: Mapping[str, int], give_up: bool
    ) -> bool:
        """Run one transaction; return whether it was committed, and not aborted."""
        assert self._group is not None
        mark = ",".join(f"{run}={checkpoint}" for run, checkpoint in written.items())
        offset = max(period.checkpoint for period in periods)
        offsets = [topic_partition((topic, 0), offset, mark)]
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

    def _written_to(self, topic: str) -> dict[str, int]:
        """Return up to which checkpoint each run has written, as its marker at a topic says."""
        known = self._written.get(topic)
        if known is None:
            assert self._group is not None
            wanted = [topic_partition((topic, 0))]
            found = self._group.ask(self._group.kafka.committed, wanted)[0]
            # confluent-kafka writes the NUL behind a text, too.
            text = (found.metadata or "").rstrip("\0") if found.offset >= 0 else ""
            pairs = (entry.rpartition("=") for entry in text.split(",") if entry)
            known = self._written[topic] = {run: int(number) for run, _, number in pairs}
        return known


def _marked_topic(periods: Sequence[Period]) -> str | None:
    """Return the topic at which it is noted that some periods are written.

    It is the same for the same records, in whatever order they come.
    """
    topics = [period.topic for period in periods if period.topic]
    if topics:
        return min(topics)
    return next((record[0] for period in periods for record in period.records()), None)


class _AbortNeededError(Exception):
    """The transaction cannot be committed, another one may."""
