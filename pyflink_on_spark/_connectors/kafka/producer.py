"""Hands records to Kafka."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pyflink_on_spark._connectors.kafka.client import Client, api_timeout, confluent_kafka
from pyflink_on_spark._connectors.kafka.patience import ShutdownBudget
from pyflink_on_spark._connectors.kafka.producer_properties import producer_properties
from pyflink_on_spark._connectors.kafka.records import Record

_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_WAIT = 0.1
_BETWEEN_POLLS = 1_000


class RecordProducer:
    """A producer, and what became of its records.

    Args:
        properties: of Kafka's Java producer.
        log_failures_only: whether a record that cannot be written is only logged.
        settings: properties of librdkafka's own.
    """

    def __init__(
        self,
        properties: Mapping[str, str],
        log_failures_only: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._log_failures_only = log_failures_only
        self._failure: Exception | None = None
        self._told = self._closed = False
        self._kafka_exception: type[Exception] = confluent_kafka().KafkaException
        self.client = Client(
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
        """Take records; they are written in the background.

        Raises:
            RuntimeError: one before could not be written.
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
            self.kafka.poll(0)
            self.check()

    def _not_taken(self, record: Record, error: Exception) -> None:
        """Try again until there is room, or note that a record is refused."""
        topic, key, value, timestamp = record
        while isinstance(error, BufferError):
            # What waits is written, or given up after delivery.timeout.ms.
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
            RuntimeError: one could not be written.
        """
        while self.kafka.flush(_SECONDS_TO_WAIT):
            self.check()
        self.check()

    def check(self) -> None:
        """Raise what went wrong in the background."""
        try:
            self.client.problems.check()
            if self._failure is not None:
                raise self._failure
        except Exception:
            self._told = True
            raise

    def close(self, patience: ShutdownBudget | None = None) -> None:
        """Leave the cluster, and give up what is not written.

        Args:
            patience: how long to wait for it before, which would be in vain if something has gone
                wrong already; None: not at all.

        Raises:
            RuntimeError: a record could not be written, of which nobody has been told.
        """
        try:
            if patience is not None and not self._told:
                with patience.spent() as seconds:
                    self._wait(seconds)
        finally:
            self._closed = True
            with contextlib.suppress(self._kafka_exception):  # it says again why it has failed
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
        """Begin anew, after a transaction that was aborted."""
        deadline = time.monotonic() + self.client.timeout
        while self.kafka.flush(_SECONDS_TO_WAIT) and time.monotonic() < deadline:
            pass
        self._failure = None

    def _failed(self, error: Any, message: Any) -> None:
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
