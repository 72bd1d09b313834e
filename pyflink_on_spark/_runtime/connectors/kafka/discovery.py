"""Looks for partitions that come up while a job runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyflink_on_spark._runtime.connectors.kafka.partitions import Partition

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.connectors.kafka.source import KafkaReading

_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_STOP = 1.0


class Discovery:
    """Asks in a thread of its own, so that reading goes on.

    Args:
        reading: says what to look for.
        known: the partitions that there are.
        interval: in ms.
        now: processing time in ms.
    """

    def __init__(
        self, reading: KafkaReading, known: Iterable[Partition], interval: int, now: int
    ) -> None:
        self._reading, self._known = reading, set(known)
        self._interval, self._next = interval, now + interval
        self._answer: list[Partition] = []
        self._missing: LookupError | None = None
        self._thread: threading.Thread | None = None

    @classmethod
    def of(cls, reading: KafkaReading, known: Iterable[Partition], now: int) -> Discovery | None:
        """Return one, or None if there is nothing to look for."""
        interval = reading.discovery_interval
        return None if interval is None else cls(reading, known, interval, now)

    def found(self, now: int) -> list[Partition]:
        """Return, once, the partitions that are new; of all subtasks.

        Raises:
            LookupError: a topic is not there any more.
        """
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            if self._missing is not None:
                raise self._missing
            new = [key for key in self._answer if key not in self._known]
            self._known.update(new)
            return new
        if self._thread is None and now >= self._next:
            self._next = now + self._interval
            self._thread = threading.Thread(target=self._ask, name="kafka-topics", daemon=True)
            self._thread.start()
        return []

    def stop(self) -> None:
        """Wait a little for a question that is under way."""
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_STOP)

    def _ask(self) -> None:
        try:
            client = self._reading.consumer(suffix="discovery")
            try:
                self._answer = self._reading.subscription.find(client)
            finally:
                client.kafka.close()
        except LookupError as error:
            self._missing = error
        except Exception as error:  # noqa: BLE001 - it is asked again
            _log.warning("looking for new Kafka partitions failed: %s", error)
