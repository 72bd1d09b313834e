"""The sink that writes to a Firehose delivery stream."""

from __future__ import annotations

from pyflink_on_spark._connectors.kinesis.config import Batching, FirehoseSinkConfig
from pyflink_on_spark._connectors.kinesis.sink import FirehoseSink
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import Sink
from pyflink_on_spark.datastream.connectors.kinesis.sink_builder import RequestSinkBuilder

_BATCHING = Batching(in_bytes=4 * 1024 * 1024, element_bytes=1000 * 1024)


class KinesisFirehoseSink(Sink):
    """Writes to a Firehose delivery stream; made with ``builder()``.

    Args:
        j_kinesis_firehose_sink: made by the builder.

    On Spark: needs boto3: ``pip install 'pyflink_on_spark[kinesis]'``. A subtask sends one request
    at a time.
    """

    def __init__(self, j_kinesis_firehose_sink):
        call = "KinesisFirehoseSink(j_kinesis_firehose_sink)"
        self._config = own_handle(j_kinesis_firehose_sink, FirehoseSinkConfig, call)
        super().__init__(sink=FirehoseSink(self._config))

    @staticmethod
    def builder() -> KinesisFirehoseSinkBuilder:
        """Return a builder with requests of at most 500 elements, 4 MB and 5 s."""
        return KinesisFirehoseSinkBuilder()


class KinesisFirehoseSinkBuilder(RequestSinkBuilder):
    """Configures a sink. The delivery stream and the serializer are required."""

    def __init__(self):
        super().__init__(_BATCHING)
        self._stream = ""

    def set_delivery_stream_name(self, delivery_stream_name: str) -> KinesisFirehoseSinkBuilder:
        """Set the name of the delivery stream."""
        call = "set_delivery_stream_name(delivery_stream_name)"
        self._stream = argument(delivery_stream_name, str, call)
        return self

    def set_firehose_client_properties(
        self, firehose_client_properties: dict[str, str]
    ) -> KinesisFirehoseSinkBuilder:
        """Set the properties of the client."""
        call = "set_firehose_client_properties(firehose_client_properties)"
        return self._set_properties(firehose_client_properties, call)

    def build(self) -> KinesisFirehoseSink:
        """Return the sink.

        Raises:
            ValueError: a required setting is missing, or limits contradict each other.
        """
        serializer = self._checked_serializer("KinesisFirehoseSinkElementConverter")
        require(
            self._stream, "The delivery stream name must be set when initializing the KDF Sink."
        )
        self._batching.check()
        return KinesisFirehoseSink(
            FirehoseSinkConfig(
                self._stream, serializer, self._fail_on_error, self._batching, self._properties
            )
        )
