"""Finds partitions that are created while a job runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from pyflink_on_spark._connectors.kafka.client import consumer
from pyflink_on_spark._connectors.kafka.config import KafkaSourceConfig, OffsetRule, Partition
from pyflink_on_spark._connectors.kafka.offsets import OffsetLookup
from pyflink_on_spark._connectors.kafka.partitions import PartitionPosition, find_partitions

_log = logging.getLogger("pyflink_on_spark.kafka")
_SECONDS_TO_STOP = 1.0
_FROM_THE_BEGINNING = OffsetRule("earliest")


class Discovery:
    """Asks for partitions in a thread of its own, so that reading does not wait.

    Args:
        config: the settings of the source.
        known: the partitions of the subtask.
        owned: whether the subtask reads a partition.
        interval: the time between two searches, in ms.
        now: the processing time in ms.
    """

    def __init__(
        self,
        config: KafkaSourceConfig,
        known: Iterable[Partition],
        owned: Callable[[Partition], bool],
        interval: int,
        now: int,
    ) -> None:
        self._config, self._known, self._owned = config, set(known), owned
        self._interval, self._next = interval, now + interval
        self._answer: list[PartitionPosition] = []
        self._error: LookupError | ValueError | None = None
        self._thread: threading.Thread | None = None

    @classmethod
    def of(
        cls,
        config: KafkaSourceConfig,
        known: Iterable[Partition],
        owned: Callable[[Partition], bool],
        now: int,
    ) -> Discovery | None:
        """Return the discovery of a source, or None if the source reads a fixed set."""
        interval = config.discovery_interval
        return None if interval is None else cls(config, known, owned, interval, now)

    def found(self, now: int) -> list[PartitionPosition]:
        """Return the new partitions of the subtask, each of them once.

        Raises:
            LookupError: a topic was deleted.
            ValueError: a partition has no offset at which reading ends.
        """
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            if self._error is not None:
                raise self._error
            new, self._answer = self._answer, []
            self._known.update(position.key for position in new)
            return new
        if self._thread is None and now >= self._next:
            self._next = now + self._interval
            self._thread = threading.Thread(target=self._search, name="kafka-topics", daemon=True)
            self._thread.start()
        return []

    def stop(self) -> None:
        """Wait a moment for a search that is running."""
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_STOP)

    def _search(self) -> None:
        try:
            client = consumer(self._config, suffix="discovery")
            try:
                existing = find_partitions(self._config.subscription, client)
                new = [key for key in existing if key not in self._known and self._owned(key)]
                if new:
                    offsets = OffsetLookup(client, self._config.group)
                    stopping = self._config.stopping
                    self._answer = offsets.positions(new, _FROM_THE_BEGINNING, stopping)
            finally:
                client.close()
        except (LookupError, ValueError) as error:
            self._error = error
        except ConnectionError:
            pass  # the client has reported the loss
        except Exception as error:  # noqa: BLE001 - the next search may succeed
            _log.warning("the search for new Kafka partitions failed: %s", error)
