"""The sink that writes to a Kinesis data stream."""

from __future__ import annotations

from pyflink_on_spark._connectors.kinesis.config import (
    Batching,
    PartitionKeys,
    StreamsSinkConfig,
)
from pyflink_on_spark._connectors.kinesis.sink import StreamsSink
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import Sink
from pyflink_on_spark.datastream.connectors.kinesis.sink_builder import RequestSinkBuilder


class PartitionKeyGenerator:
    """Chooses the partition key of an element.

    Args:
        j_partition_key_generator: made by the static methods of this class.
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
        j_kinesis_streams_sink: made by the builder.

    Example::

        sink = (
            KinesisStreamsSink.builder()
            .set_stream_name("clicks")
            .set_serialization_schema(SimpleStringSchema())
            .set_partition_key_generator(PartitionKeyGenerator.random())
            .set_kinesis_client_properties({"aws.region": "eu-west-1"})
            .build()
        )
        clicks.sink_to(sink)

    On Spark: needs boto3: ``pip install 'pyflink_on_spark[kinesis]'``. A subtask sends one request
    at a time.
    """

    def __init__(self, j_kinesis_streams_sink):
        call = "KinesisStreamsSink(j_kinesis_streams_sink)"
        self._config = own_handle(j_kinesis_streams_sink, StreamsSinkConfig, call)
        super().__init__(sink=StreamsSink(self._config))

    @staticmethod
    def builder() -> KinesisStreamsSinkBuilder:
        """Return a builder with requests of at most 500 elements, 5 MB and 5 s."""
        return KinesisStreamsSinkBuilder()


class KinesisStreamsSinkBuilder(RequestSinkBuilder):
    """Configures a sink. The stream, the serializer and the partition keys are required."""

    def __init__(self):
        super().__init__(Batching())
        self._stream = ""
        self._keys: PartitionKeys | None = None

    def set_stream_name(self, stream_name: str) -> KinesisStreamsSinkBuilder:
        """Set the name of the stream."""
        self._stream = argument(stream_name, str, "set_stream_name(stream_name)")
        return self

    def set_partition_key_generator(
        self, partition_key_generator: PartitionKeyGenerator
    ) -> KinesisStreamsSinkBuilder:
        """Set the partition keys of elements."""
        call = "set_partition_key_generator(partition_key_generator)"
        self._keys = argument(partition_key_generator, PartitionKeyGenerator, call)._keys
        return self

    def set_kinesis_client_properties(
        self, kinesis_client_properties: dict[str, str]
    ) -> KinesisStreamsSinkBuilder:
        """Set the properties of the client."""
        call = "set_kinesis_client_properties(kinesis_client_properties)"
        return self._set_properties(kinesis_client_properties, call)

    def build(self) -> KinesisStreamsSink:
        """Return the sink.

        Raises:
            ValueError: a required setting is missing, or limits contradict each other.
        """
        converter = "KinesisStreamsSinkElementConverter"
        serializer = self._checked_serializer(converter)
        if self._keys is None:
            raise ValueError(f"No PartitionKeyGenerator was supplied to the {converter} builder.")
        require(self._stream, "The stream name must be set when initializing the KDS Sink.")
        self._batching.check()
        return KinesisStreamsSink(
            StreamsSinkConfig(
                self._stream,
                serializer,
                self._fail_on_error,
                self._batching,
                self._properties,
                self._keys,
            )
        )
