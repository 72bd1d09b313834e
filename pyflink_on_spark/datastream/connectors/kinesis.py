"""Kinesis data streams and Firehose as sources and sinks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import JAVA_OBJECT, Gap, raise_unsupported, refuse_java
from pyflink_on_spark._connectors.kinesis.config import (
    Batching,
    FirehoseSinkConfig,
    KinesisSourceConfig,
    PartitionKeys,
    ShardAssignment,
    StreamsSinkConfig,
    WatermarkSharing,
)
from pyflink_on_spark._connectors.kinesis.sink import FirehoseSink, StreamsSink
from pyflink_on_spark._connectors.kinesis.source import StreamsSource
from pyflink_on_spark.common import (
    AssignerWithPeriodicWatermarksWrapper,
    DeserializationSchema,
    SerializationSchema,
)
from pyflink_on_spark.datastream.connectors._arguments import argument, properties_argument, require
from pyflink_on_spark.datastream.connectors.base import Sink
from pyflink_on_spark.datastream.functions import SourceFunction

__all__ = [
    "KinesisShardAssigner",
    "KinesisDeserializationSchema",
    "WatermarkTracker",
    "PartitionKeyGenerator",
    "FlinkKinesisConsumer",
    "KinesisStreamsSink",
    "KinesisStreamsSinkBuilder",
    "KinesisFirehoseSink",
    "KinesisFirehoseSinkBuilder",
]
_BATCHING = Batching(in_bytes=4 * 1024 * 1024, element_bytes=1000 * 1024)


class RequestSinkBuilder:
    """Configures a sink that sends elements in requests.

    Args:
        batching: the default limits of requests.
    """

    def __init__(self, batching: Batching) -> None:
        self._batching = batching
        self._serializer: SerializationSchema | None = None
        self._fail_on_error = False
        self._properties: dict[str, str] = {}

    def set_serialization_schema(self, serialization_schema: SerializationSchema) -> Self:
        """Set the serializer of the records."""
        call = "set_serialization_schema(serialization_schema)"
        self._serializer = argument(serialization_schema, SerializationSchema, call)
        return self

    def set_fail_on_error(self, fail_on_error: bool) -> Self:
        """Set whether a rejected record fails the job; by default it is sent again."""
        self._fail_on_error = argument(fail_on_error, bool, "set_fail_on_error(fail_on_error)")
        return self

    def set_max_batch_size(self, max_batch_size: int) -> Self:
        """Set the largest number of elements in a request."""
        return self._batch(elements=max_batch_size)

    def set_max_in_flight_requests(self, max_in_flight_requests: int) -> Self:
        """Set the largest number of requests without an answer.

        On Spark: no effect; a subtask sends one request at a time.
        """
        return self._batch(requests_in_flight=max_in_flight_requests)

    def set_max_buffered_requests(self, max_buffered_requests: int) -> Self:
        """Set the largest number of buffered elements.

        On Spark: no effect; a subtask blocks while it sends a request.
        """
        return self._batch(buffered=max_buffered_requests)

    def set_max_batch_size_in_bytes(self, max_batch_size_in_bytes: int) -> Self:
        """Set the largest size of a request, in bytes."""
        return self._batch(in_bytes=max_batch_size_in_bytes)

    def set_max_time_in_buffer_ms(self, max_time_in_buffer_ms: int) -> Self:
        """Set the longest time that an element is buffered, in ms."""
        return self._batch(milliseconds=max_time_in_buffer_ms)

    def set_max_record_size_in_bytes(self, max_record_size_in_bytes: int) -> Self:
        """Set the largest size of an element, in bytes; a larger one fails the job."""
        return self._batch(element_bytes=max_record_size_in_bytes)

    def _batch(self, **changes: int) -> Self:
        for name, value in changes.items():
            argument(value, int, f"the maximum of {name}")
        self._batching = replace(self._batching, **changes)
        return self

    def _checked_serializer(self, kind: str) -> SerializationSchema:
        if self._serializer is None:
            raise ValueError(f"No SerializationSchema was supplied to the {kind} builder.")
        return self._serializer

    def _set_properties(self, properties: dict[str, str], call: str) -> Self:
        self._properties = properties_argument(properties, call)
        return self


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


class KinesisShardAssigner:
    """Chooses the subtask that reads a shard.

    Args:
        j_kinesis_shard_assigner: made by the static methods of this class.
    """

    def __init__(self, j_kinesis_shard_assigner):
        call = "KinesisShardAssigner(j_kinesis_shard_assigner)"
        self._assignment = own_handle(j_kinesis_shard_assigner, ShardAssignment, call)

    @staticmethod
    def default_shard_assigner() -> KinesisShardAssigner:
        """Choose by the hash code of the shard."""
        return KinesisShardAssigner(ShardAssignment.BY_HASH)

    @staticmethod
    def uniform_shard_assigner() -> KinesisShardAssigner:
        """Choose by the shard's range of hash keys, so that all subtasks get equal shares."""
        return KinesisShardAssigner(ShardAssignment.UNIFORM)


class KinesisDeserializationSchema:
    """Makes elements of records and their metadata; in PyFlink always a Java object.

    Args:
        j_kinesis_deserialization_schema: a Java object.

    Raises:
        UnsupportedFlinkFeature: always, because there are no Java objects.
    """

    def __init__(self, j_kinesis_deserialization_schema):
        refuse_java(
            "KinesisDeserializationSchema(j_kinesis_deserialization_schema)",
            reason=JAVA_OBJECT,
            instead="Give FlinkKinesisConsumer a DeserializationSchema.",
        )


class WatermarkTracker:
    """Aligns subtasks: those that are ahead in event time wait for the others.

    Args:
        j_watermark_tracker: made by the static method of this class.
    """

    def __init__(self, j_watermark_tracker):
        call = "WatermarkTracker(j_watermark_tracker)"
        self._sharing = own_handle(j_watermark_tracker, WatermarkSharing, call)

    @staticmethod
    def job_manager_watermark_tracker(
        aggregate_name: str, log_accumulator_interval_millis: int = -1
    ) -> WatermarkTracker:
        """Share watermarks through the job's coordinator.

        Args:
            aggregate_name: the name of the shared aggregate.
            log_accumulator_interval_millis: the time between two log lines, in ms; -1 for none.
        """
        call = "job_manager_watermark_tracker(aggregate_name, log_accumulator_interval_millis)"
        name = argument(aggregate_name, str, call)
        interval = argument(log_accumulator_interval_millis, int, call)
        return WatermarkTracker(WatermarkSharing(name, interval))


class FlinkKinesisConsumer(SourceFunction):
    """Reads Kinesis data streams.

    Args:
        streams: a stream, or a list of streams.
        deserializer: the deserializer of the records.
        config_props: the properties of the client. ``aws.region`` or ``aws.endpoint`` is required.

    Raises:
        ValueError: there is no stream, or neither region nor endpoint.

    Example::

        properties = {"aws.region": "eu-west-1", "flink.stream.initpos": "TRIM_HORIZON"}
        clicks = env.add_source(FlinkKinesisConsumer("clicks", SimpleStringSchema(), properties))

    On Spark: needs boto3: ``pip install 'pyflink_on_spark[kinesis]'``. The timestamp of a record is
    its time of arrival. Watermarks of single shards, and trackers of them, need an assigner that is
    a Java object in PyFlink, too: assign watermarks after the source.
    """

    def __init__(
        self,
        streams: str | list[str],
        deserializer: DeserializationSchema | KinesisDeserializationSchema,
        config_props: dict[str, str],
    ):
        call = "FlinkKinesisConsumer(streams, deserializer, config_props)"
        names = [streams] if isinstance(streams, str) else argument(streams, list, call)
        require(names, "must be consuming at least 1 stream")
        require("" not in names, "stream names cannot be empty Strings")
        properties = properties_argument(config_props, call)
        require(
            "aws.region" in properties or "aws.endpoint" in properties,
            "For FlinkKinesisConsumer AWS region ('aws.region') and/or AWS endpoint "
            "('aws.endpoint') must be set in the config.",
        )
        self._config = KinesisSourceConfig(
            tuple(argument(name, str, call) for name in names),
            argument(deserializer, DeserializationSchema, call),
            properties,
        )
        super().__init__(self._config)

    def set_shard_assigner(self, shard_assigner: KinesisShardAssigner) -> FlinkKinesisConsumer:
        """Set which subtask reads a shard."""
        call = "set_shard_assigner(shard_assigner)"
        return self._with(
            assignment=argument(shard_assigner, KinesisShardAssigner, call)._assignment
        )

    def set_periodic_watermark_assigner(
        self, periodic_watermark_assigner: AssignerWithPeriodicWatermarksWrapper
    ) -> FlinkKinesisConsumer:
        """Set the watermark assigner of each shard."""
        call = "set_periodic_watermark_assigner(periodic_watermark_assigner)"
        kind = AssignerWithPeriodicWatermarksWrapper
        return self._with(watermarks=argument(periodic_watermark_assigner, kind, call))

    def set_watermark_tracker(self, watermark_tracker: WatermarkTracker) -> FlinkKinesisConsumer:
        """Set how subtasks are aligned in event time."""
        call = "set_watermark_tracker(watermark_tracker)"
        return self._with(sharing=argument(watermark_tracker, WatermarkTracker, call)._sharing)

    @property
    def _source(self) -> StreamsSource:
        for setter in ("periodic_watermark_assigner", "watermark_tracker"):
            told = self._config.watermarks if "periodic" in setter else self._config.sharing
            if told is not None:
                raise_unsupported(
                    f"FlinkKinesisConsumer.set_{setter}({setter})",
                    kind=Gap.NEVER,
                    reason="watermarks of single shards come from an assigner of Java",
                    instead="Use assign_timestamps_and_watermarks() after the source.",
                )
        return StreamsSource(self._config)

    def _with(self, **changes: Any) -> FlinkKinesisConsumer:
        self._config = self._j_function = replace(self._config, **changes)
        return self


__getattr__ = missing_name(__name__)
