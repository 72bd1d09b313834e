"""The sink that writes to a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.written_types import check_written
from pyflink_on_spark._connectors.rabbitmq.config import RMQSinkConfig
from pyflink_on_spark._connectors.rabbitmq.writer import QueueWriter
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class QueueSink(Sink):
    """Publishes each element as a message, at least once.

    Args:
        config: the settings of the sink.
    """

    def __init__(self, config: RMQSinkConfig) -> None:
        self._config = config

    def with_input_type(self, type_info: Any) -> Sink:
        """Check that the schema can serialize the elements.

        Raises:
            TypeError: the schema cannot serialize the elements of such a stream.
        """
        check_written(self._config.serializer, type_info)
        return self

    def writer(self, context: OperatorContext) -> SinkWriter:
        return QueueWriter(self._config)
