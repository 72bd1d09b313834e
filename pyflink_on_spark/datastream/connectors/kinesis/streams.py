"""The sink that writes to a Kinesis data stream."""

from __future__ import annotations

from pyflink_on_spark._connectors.kinesis.options import (
    Batching,
    PartitionKeys,
    StreamsWriting,
)
from pyflink_on_spark._connectors.kinesis.sink import StreamsSink
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import Sink
from pyflink_on_spark.datastream.connectors.kinesis.requests import RequestingSinkBuilder


class PartitionKeyGenerator:
    """Chooses the partition key of an element; made with the methods below.

    Args:
        j_partition_key_generator: the choice.
    """

    def __init__(self, j_partition_key_generator):
        call = "PartitionKeyGenerator(j_partition_key_generator)"
        self._keys = own_handle(j_partition_key_generator, PartitionKeys, call)

    @staticmethod
    def fixed() -> PartitionKeyGenerator:
        """Give all elements of a subtask the same key, so that they go to one shard."""
        return PartitionKeyGenerator(PartitionKeys.FIXED)

    @staticmethod
    def random() -> PartitionKeyGenerator:
        """Give each element a random key."""
        return PartitionKeyGenerator(PartitionKeys.RANDOM)


class KinesisStreamsSink(Sink):
    """Writes to a Kinesis data stream; made with ``builder()``.

    Args:
        j_kinesis_streams_sink: what the sink was told.

    On Spark: needs boto3, the extra ``kinesis``. One request at a time is under way.
    """

    def __init__(self, j_kinesis_streams_sink):
        call = "KinesisStreamsSink(j_kinesis_streams_sink)"
        self._options = own_handle(j_kinesis_streams_sink, StreamsWriting, call)
        super().__init__(sink=StreamsSink(self._options))

    @staticmethod
    def builder() -> KinesisStreamsSinkBuilder:
        """Begin with requests of 500 elements, 5 MB and 5 s at most."""
        return KinesisStreamsSinkBuilder()


class KinesisStreamsSinkBuilder(RequestingSinkBuilder):
    """Says how a sink writes. Stream, serialization and partition keys have to be set."""

    def __init__(self):
        super().__init__(Batching())
        self._stream = ""
        self._keys: PartitionKeys | None = None

    def set_stream_name(self, stream_name: str) -> KinesisStreamsSinkBuilder:
        """Set the stream's name."""
        self._stream = argument(stream_name, str, "set_stream_name(stream_name)")
        return self

    def set_partition_key_generator(
        self, partition_key_generator: PartitionKeyGenerator
    ) -> KinesisStreamsSinkBuilder:
        """Set which partition key an element gets."""
        call = "set_partition_key_generator(partition_key_generator)"
        self._keys = argument(partition_key_generator, PartitionKeyGenerator, call)._keys
        return self

    def set_kinesis_client_properties(
        self, kinesis_client_properties: dict[str, str]
    ) -> KinesisStreamsSinkBuilder:
        """Set all of the client's properties."""
        call = "set_kinesis_client_properties(kinesis_client_properties)"
        return self._set_properties(kinesis_client_properties, call)

    def build(self) -> KinesisStreamsSink:
        """Return the sink.

        Raises:
            ValueError: something that has to be set is not, or numbers do not go together.
        """
        converter = "KinesisStreamsSinkElementConverter"
        serializer = self._checked_serializer(converter)
        if self._keys is None:
            raise ValueError(f"No PartitionKeyGenerator was supplied to the {converter} builder.")
        require(self._stream, "The stream name must be set when initializing the KDS Sink.")
        self._batching.check()
        return KinesisStreamsSink(
            StreamsWriting(
                self._stream,
                serializer,
                self._keys,
                self._fail_on_error,
                self._batching,
                self._properties,
            )
        )
