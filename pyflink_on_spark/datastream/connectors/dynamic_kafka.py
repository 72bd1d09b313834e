"""Kafka topics that may move between clusters: what a source can be told.

Nothing reads them yet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common import DeserializationSchema, TypeInformation
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
)
from pyflink_on_spark.datastream.connectors._not_yet import connector_gap
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.connectors.kafka import KafkaOffsetsInitializer
from pyflink_on_spark.datastream.connectors.kafka.offsets import Offsets

__all__ = [
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "KafkaMetadataService",
    "KafkaRecordDeserializationSchema",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "StreamPatternSubscriber",
    "SingleClusterTopicMetadataService",
]


@dataclass(frozen=True)
class Cluster:
    """A Kafka cluster whose topics are the streams.

    Attributes:
        id: what it is called.
        properties: the client's properties for it.
    """

    id: str
    properties: dict[str, str] = field(repr=False)


class KafkaMetadataService:
    """Knows which topics of which clusters a stream is made of.

    Args:
        j_metadata_service: the cluster.
    """

    def __init__(self, j_metadata_service: Any):
        call = f"{type(self).__name__}(j_metadata_service)"
        self._cluster = own_handle(j_metadata_service, Cluster, call)


class SingleClusterTopicMetadataService(KafkaMetadataService):
    """Takes each topic of one cluster for a stream.

    Args:
        kafka_cluster_id: what the cluster is called.
        properties: the client's properties for it.
    """

    def __init__(self, kafka_cluster_id: str, properties: dict[str, str]):
        call = "SingleClusterTopicMetadataService(kafka_cluster_id, properties)"
        name = argument(kafka_cluster_id, str, call)
        super().__init__(Cluster(name, properties_argument(properties, call)))


@dataclass(frozen=True)
class Streams:
    """The streams to read.

    Attributes:
        chosen: their ids, or a pattern that the whole id matches.
    """

    chosen: frozenset[str] | re.Pattern[str]


class KafkaStreamSubscriber:
    """Chooses streams.

    Args:
        j_kafka_stream_subscriber: the streams.
    """

    def __init__(self, j_kafka_stream_subscriber: Any):
        call = f"{type(self).__name__}(j_kafka_stream_subscriber)"
        self._streams = own_handle(j_kafka_stream_subscriber, Streams, call)


class KafkaStreamSetSubscriber(KafkaStreamSubscriber):
    """Chooses streams by their ids.

    Args:
        stream_ids: the ids.
    """

    def __init__(self, stream_ids: set[str]):
        call = "KafkaStreamSetSubscriber(stream_ids)"
        super().__init__(Streams(frozenset(argument(name, str, call) for name in stream_ids)))


class StreamPatternSubscriber(KafkaStreamSubscriber):
    """Chooses the streams whose whole id matches a regular expression.

    Args:
        stream_pattern: the expression.

    Raises:
        ValueError: the expression is malformed.

    On Spark: the expression is Python's, not Java's.
    """

    def __init__(self, stream_pattern: str):
        text = argument(stream_pattern, str, "StreamPatternSubscriber(stream_pattern)")
        try:
            super().__init__(Streams(re.compile(text)))
        except re.error as error:
            raise ValueError(f"the stream pattern {text!r} is malformed: {error}") from None


class KafkaRecordDeserializationSchema(DeserializationSchema):
    """Makes elements of Kafka records; made with ``value_only``.

    Args:
        j_deserialization_schema: what makes elements of the records' values.
    """

    def __init__(self, j_deserialization_schema: Any):
        call = "KafkaRecordDeserializationSchema(j_deserialization_schema)"
        self._values = own_handle(j_deserialization_schema, DeserializationSchema, call)
        super().__init__(j_deserialization_schema)

    @staticmethod
    def value_only(
        deserialization_schema: DeserializationSchema,
    ) -> KafkaRecordDeserializationSchema:
        """Make them of the records' values; their keys are dropped."""
        return KafkaRecordDeserializationSchema(deserialization_schema)

    def _produced_type(self) -> TypeInformation:
        return self._values._produced_type()


@dataclass(frozen=True)
class DynamicKafkaReading:
    """What a dynamic Kafka source was told.

    Attributes:
        streams: the streams.
        cluster: where the streams are.
        deserializer: what makes elements of the records' values.
        starting: where reading begins.
        stopping: where it ends; None: never.
        properties: the client's properties for all clusters.
    """

    streams: Streams
    cluster: Cluster
    deserializer: DeserializationSchema
    starting: Offsets
    stopping: Offsets | None
    properties: dict[str, str] = field(repr=False)


class DynamicKafkaSource(Source):
    """Reads streams whose topics may move between clusters; made with ``builder()``.

    Args:
        j_dynamic_kafka_source: what the source was told.
    """

    _source = connector_gap("clusters of Kafka that change")

    def __init__(self, j_dynamic_kafka_source: Any):
        call = "DynamicKafkaSource(j_dynamic_kafka_source)"
        self._options = own_handle(j_dynamic_kafka_source, DynamicKafkaReading, call)
        super().__init__(j_dynamic_kafka_source)

    @staticmethod
    def builder() -> DynamicKafkaSourceBuilder:
        """Begin with a source that reads from the earliest offsets and never ends."""
        return DynamicKafkaSourceBuilder()


class DynamicKafkaSourceBuilder:
    """Says what is read. Streams, the metadata service and a deserializer have to be set."""

    def __init__(self):
        self._subscriber: KafkaStreamSubscriber | None = None
        self._metadata: KafkaMetadataService | None = None
        self._deserializer: KafkaRecordDeserializationSchema | None = None
        self._starting = KafkaOffsetsInitializer.earliest()._offsets
        self._stopping: Offsets | None = None
        self._properties: dict[str, str] = {}

    def build(self) -> DynamicKafkaSource:
        """Return the source.

        Raises:
            ValueError: something that has to be set is not.
        """
        if self._subscriber is None:
            raise ValueError("Kafka stream subscriber is required but not provided.")
        if self._metadata is None:
            raise ValueError("Kafka metadata service is required but not provided.")
        if self._deserializer is None:
            raise ValueError("Deserialization schema is required but not provided.")
        return DynamicKafkaSource(
            DynamicKafkaReading(
                self._subscriber._streams,
                self._metadata._cluster,
                self._deserializer._values,
                self._starting,
                self._stopping,
                dict(self._properties),
            )
        )

    def set_stream_ids(self, stream_ids: set[str]) -> DynamicKafkaSourceBuilder:
        """Read streams with these ids."""
        return self.set_kafka_stream_subscriber(KafkaStreamSetSubscriber(stream_ids))

    def set_stream_pattern(self, stream_pattern: str) -> DynamicKafkaSourceBuilder:
        """Read the streams whose whole id matches a regular expression."""
        return self.set_kafka_stream_subscriber(StreamPatternSubscriber(stream_pattern))

    def set_kafka_stream_subscriber(
        self, kafka_stream_subscriber: KafkaStreamSubscriber
    ) -> DynamicKafkaSourceBuilder:
        """Set what chooses streams."""
        call = "set_kafka_stream_subscriber(kafka_stream_subscriber)"
        self._subscriber = argument(kafka_stream_subscriber, KafkaStreamSubscriber, call)
        return self

    def set_kafka_metadata_service(
        self, kafka_metadata_service: KafkaMetadataService
    ) -> DynamicKafkaSourceBuilder:
        """Set what knows the topics of a stream."""
        call = "set_kafka_metadata_service(kafka_metadata_service)"
        self._metadata = argument(kafka_metadata_service, KafkaMetadataService, call)
        return self

    def set_deserializer(
        self, deserializer: KafkaRecordDeserializationSchema
    ) -> DynamicKafkaSourceBuilder:
        """Set what makes elements of records."""
        call = "set_deserializer(deserializer)"
        self._deserializer = argument(deserializer, KafkaRecordDeserializationSchema, call)
        return self

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> DynamicKafkaSourceBuilder:
        """Set what makes elements of the records' values; their keys are dropped."""
        values = KafkaRecordDeserializationSchema.value_only(deserialization_schema)
        return self.set_deserializer(values)

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> DynamicKafkaSourceBuilder:
        """Set where reading begins; the earliest without this."""
        call = "set_starting_offsets(starting_offsets_initializer)"
        given = argument(starting_offsets_initializer, KafkaOffsetsInitializer, call)
        self._starting = given._offsets
        return self

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> DynamicKafkaSourceBuilder:
        """Set where reading ends, of a source that counts as bounded."""
        call = "set_bounded(stopping_offsets_initializer)"
        given = argument(stopping_offsets_initializer, KafkaOffsetsInitializer, call)
        self._stopping = given._offsets
        return self

    def set_properties(self, props: dict[str, str]) -> DynamicKafkaSourceBuilder:
        """Set properties of the consumers of all clusters, beside those that are set already."""
        self._properties.update(properties_argument(props, "set_properties(props)"))
        return self

    def set_property(self, key: str, value: str) -> DynamicKafkaSourceBuilder:
        """Set a property of the consumers of all clusters."""
        return self.set_properties({key: value})

    def set_group_id(self, group_id: str) -> DynamicKafkaSourceBuilder:
        """Set the consumer group in all clusters."""
        return self.set_property("group.id", argument(group_id, str, "set_group_id(group_id)"))

    def set_client_id_prefix(self, prefix: str) -> DynamicKafkaSourceBuilder:
        """Set what the names of the consumers begin with."""
        text = argument(prefix, str, "set_client_id_prefix(prefix)")
        return self.set_property("client.id.prefix", text)


__getattr__ = missing_name(__name__)
