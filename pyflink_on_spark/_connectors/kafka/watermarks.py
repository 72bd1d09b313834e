"""A watermark for each partition, and the smallest of them for the subtask."""

from __future__ import annotations

from collections.abc import Iterable

from pyflink_on_spark._connectors.kafka.config import Partition
from pyflink_on_spark._runtime.contract.connector import WatermarkRule
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP


class PartitionWatermarks:
    """The watermarks of the partitions of one subtask.

    A subtask without partitions is idle, so that it never holds back other subtasks.

    Args:
        rule: how to generate watermarks.
        partitions: the partitions of the subtask.
        now: the processing time in ms.
    """

    def __init__(self, rule: WatermarkRule, partitions: Iterable[Partition], now: int) -> None:
        self._delay, self._timeout = rule.delay, rule.idle_timeout
        self._largest = dict.fromkeys(partitions, MIN_TIMESTAMP)
        self._last = dict.fromkeys(self._largest, now)
        self._emitted = MIN_TIMESTAMP

    def add(self, partition: Partition, now: int) -> None:
        """Add a partition."""
        self._largest.setdefault(partition, MIN_TIMESTAMP)
        self._last[partition] = now

    def remove(self, partition: Partition) -> None:
        """Remove a partition that is read to its end."""
        self._largest.pop(partition, None)
        self._last.pop(partition, None)

    def seen(self, partition: Partition, timestamp: int | None, now: int) -> None:
        """Note that records were read.

        Args:
            partition: the partition of the records.
            timestamp: the largest timestamp of the records in ms, or None if they have none.
            now: the processing time in ms.
        """
        if timestamp is not None:
            self._largest[partition] = max(self._largest[partition], timestamp)
        self._last[partition] = now

    def idle(self, now: int) -> bool:
        """Whether all partitions are idle."""
        return not self._last or (
            self._timeout is not None and now - max(self._last.values()) >= self._timeout
        )

    def advanced(self, now: int) -> int | None:
        """Return the watermark (ms) if it is larger than the previous one."""
        if self._delay is None or not self._largest:
            return None
        active = [
            largest
            for partition, largest in self._largest.items()
            if self._timeout is None or now - self._last[partition] < self._timeout
        ]
        largest = min(active) if active else max(self._largest.values())
        watermark = largest - self._delay - 1
        if largest == MIN_TIMESTAMP or watermark <= self._emitted:
            return None
        self._emitted = watermark
        return watermark
