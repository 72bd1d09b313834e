"""Looks for partitions that come up while a job runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.kafka.offsets import OffsetRule, Offsets
from pyflink_on_spark._connectors.kafka.partitions import Partition, Position

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.kafka.source import KafkaSourceConfig

_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_STOP = 1.0
_FROM_THE_BEGINNING = OffsetRule("earliest")


class Discovery:
    """Asks in a thread of its own, so that reading goes on.

    Args:
        reading: says what to look for.
        known: the subtask's partitions.
        owned: whether a partition is the subtask's.
        interval: in ms.
        now: processing time in ms.
    """

    def __init__(
        self,
        reading: KafkaSourceConfig,
        known: Iterable[Partition],
        owned: Callable[[Partition], bool],
        interval: int,
        now: int,
    ) -> None:
        self._reading, self._known, self._owned = reading, set(known), owned
        self._interval, self._next = interval, now + interval
        self._answer: list[Position] = []
        self._problem: LookupError | ValueError | None = None
        self._thread: threading.Thread | None = None

    @classmethod
    def of(
        cls,
        reading: KafkaSourceConfig,
        known: Iterable[Partition],
        owned: Callable[[Partition], bool],
        now: int,
    ) -> Discovery | None:
        """Return one, or None if there is nothing to look for."""
        interval = reading.discovery_interval
        return None if interval is None else cls(reading, known, owned, interval, now)

    def found(self, now: int) -> list[Position]:
        """Return, once, from where to where the subtask's new partitions are to be read.

        Raises:
            LookupError: a topic is not there any more.
            ValueError: there is no offset to end at.
        """
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            if self._problem is not None:
                raise self._problem
            new, self._answer = self._answer, []
            self._known.update(position.key for position in new)
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
                there = self._reading.subscription.find(client)
                new = [key for key in there if key not in self._known and self._owned(key)]
                offsets = Offsets(client, self._reading.group)
                stopping = self._reading.stopping
                self._answer = offsets.positions(new, _FROM_THE_BEGINNING, stopping) if new else []
            finally:
                client.kafka.close()
        except (LookupError, ValueError) as error:
            self._problem = error
        except Exception as error:  # noqa: BLE001 - it is asked again
            _log.warning("looking for new Kafka partitions failed: %s", error)
