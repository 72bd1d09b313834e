"""Hands records to Kafka, and reports which of them could not be written."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any
from weakref import WeakValueDictionary

from pyflink_on_spark._connectors.kafka.client import KafkaClient, api_timeout, confluent_kafka
from pyflink_on_spark._connectors.kafka.properties import producer_properties
from pyflink_on_spark._connectors.kafka.records import Record

_SECONDS = 8.0
"""Less than the time that a process gets to end before it is killed."""


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


_budgets: WeakValueDictionary[tuple[str, int], ShutdownBudget] = WeakValueDictionary()


def shutdown_budget_of(job_id: str, attempt: int) -> ShutdownBudget:
    """Return the budget that all writers of one attempt of a job share in this process.

    The budget lives as long as one of them refers to it.
    """
    return _budgets.setdefault((job_id, attempt), ShutdownBudget())


_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_WAIT = 0.1
_BETWEEN_POLLS = 1_000


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
        settings: Mapping[str, Any] | None = None,
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
