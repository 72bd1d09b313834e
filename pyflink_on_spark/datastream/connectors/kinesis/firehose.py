"""The sink that writes to a Firehose delivery stream."""

from __future__ import annotations

from pyflink_on_spark._connectors.kinesis.options import Batching, FirehoseWriting
from pyflink_on_spark._connectors.kinesis.sink import FirehoseSink
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import Sink
from pyflink_on_spark.datastream.connectors.kinesis.requests import RequestingSinkBuilder

_BATCHING = Batching(in_bytes=4 * 1024 * 1024, element_bytes=1000 * 1024)


class KinesisFirehoseSink(Sink):
    """Writes to a Firehose delivery stream; made with ``builder()``.

    Args:
        j_kinesis_firehose_sink: what the sink was told.

    On Spark: needs boto3, the extra ``kinesis``. One request at a time is under way.
    """

    def __init__(self, j_kinesis_firehose_sink):
        call = "KinesisFirehoseSink(j_kinesis_firehose_sink)"
        self._options = own_handle(j_kinesis_firehose_sink, FirehoseWriting, call)
        super().__init__(sink=FirehoseSink(self._options))

    @staticmethod
    def builder() -> KinesisFirehoseSinkBuilder:
        """Begin with requests of 500 elements, 4 MB and 5 s at most."""
        return KinesisFirehoseSinkBuilder()


class KinesisFirehoseSinkBuilder(RequestingSinkBuilder):
    """Says how a sink writes. Delivery stream and serialization have to be set."""

    def __init__(self):
        super().__init__(_BATCHING)
        self._stream = ""

    def set_delivery_stream_name(self, delivery_stream_name: str) -> KinesisFirehoseSinkBuilder:
        """Set the delivery stream's name."""
        call = "set_delivery_stream_name(delivery_stream_name)"
        self._stream = argument(delivery_stream_name, str, call)
        return self

    def set_firehose_client_properties(
        self, firehose_client_properties: dict[str, str]
    ) -> KinesisFirehoseSinkBuilder:
        """Set all of the client's properties."""
        call = "set_firehose_client_properties(firehose_client_properties)"
        return self._set_properties(firehose_client_properties, call)

    def build(self) -> KinesisFirehoseSink:
        """Return the sink.

        Raises:
            ValueError: something that has to be set is not, or numbers do not go together.
        """
        serializer = self._checked_serializer("KinesisFirehoseSinkElementConverter")
        require(
            self._stream, "The delivery stream name must be set when initializing the KDF Sink."
        )
        self._batching.check()
        return KinesisFirehoseSink(
            FirehoseWriting(
                self._stream, serializer, self._fail_on_error, self._batching, self._properties
            )
        )
