"""The sinks that write to a Kinesis data stream or a Firehose delivery stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.written_types import check_written
from pyflink_on_spark._connectors.kinesis.config import (
    RequestSinkConfig,
)
from pyflink_on_spark._connectors.kinesis.writer import FirehoseWriter, StreamsWriter
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class _RequestSink(Sink):
    """A sink that sends elements in requests.

    Args:
        config: the settings of the sink.
    """

    def __init__(self, config: RequestSinkConfig) -> None:
        self._config: Any = config

    def with_input_type(self, type_info: Any) -> Sink:
        """Check that the schema can serialize the elements.

        Raises:
            TypeError: the schema cannot serialize the elements of such a stream.
        """
        check_written(self._config.serializer, type_info)
        return self


class StreamsSink(_RequestSink):
    """Writes each element as a record of a data stream, at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        return StreamsWriter(self._config, context)


class FirehoseSink(_RequestSink):
    """Writes each element as a record of a delivery stream, at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        return FirehoseWriter(self._config, context)
