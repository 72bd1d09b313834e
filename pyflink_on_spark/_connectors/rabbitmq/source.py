"""The source that reads a queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.rabbitmq.config import RMQSourceConfig
from pyflink_on_spark._connectors.rabbitmq.reader import QueueReader
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class QueueSource(Source):
    """Reads a queue; the broker distributes the messages over the subtasks.

    Args:
        config: the settings of the source.
    """

    bounded = False

    def __init__(self, config: RMQSourceConfig) -> None:
        self._config = config
        self.produced_type = config.deserializer._produced_type()

    def splits(self, parallelism: int) -> list[Any]:
        """Return one split for each subtask, without content."""
        return list(range(parallelism))

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        return QueueReader(self._config, restored, context)
