# mypy: disable-error-code="empty-body"
"""Kafka topics that may move between clusters: names and signatures only, without a client yet."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common import DeserializationSchema
from pyflink_on_spark.datastream.connectors._not_yet import without_client
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.connectors.kafka import KafkaOffsetsInitializer

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

_not_yet = without_client("Kafka clusters that change")


@_not_yet
class KafkaMetadataService:
    """Knows the topics and clusters of a stream."""

    def __init__(self, j_metadata_service: object): ...


@_not_yet
class SingleClusterTopicMetadataService(KafkaMetadataService):
    """Takes each topic of one cluster as a stream."""

    def __init__(self, kafka_cluster_id: str, properties: dict[str, str]): ...


@_not_yet
class KafkaStreamSubscriber:
    """Chooses streams."""

    def __init__(self, j_kafka_stream_subscriber: Any): ...


@_not_yet
class KafkaStreamSetSubscriber(KafkaStreamSubscriber):
    """Chooses streams by their ids."""

    def __init__(self, stream_ids: set[str]): ...


@_not_yet
class StreamPatternSubscriber(KafkaStreamSubscriber):
    """Chooses the streams whose id matches a regular expression."""

    def __init__(self, stream_pattern: str): ...


@_not_yet
class KafkaRecordDeserializationSchema(DeserializationSchema):
    """Makes elements of Kafka records."""

    def __init__(self, j_deserialization_schema: Any): ...

    @staticmethod
    def value_only(
        deserialization_schema: DeserializationSchema,
    ) -> KafkaRecordDeserializationSchema: ...


@_not_yet
class DynamicKafkaSource(Source):
    """Reads streams whose topics may move between clusters."""

    def __init__(self, j_dynamic_kafka_source: object): ...

    @staticmethod
    def builder() -> DynamicKafkaSourceBuilder: ...


@_not_yet
class DynamicKafkaSourceBuilder:
    """Configures a source."""

    def __init__(self): ...

    def build(self) -> DynamicKafkaSource: ...

    def set_stream_ids(self, stream_ids: set[str]) -> DynamicKafkaSourceBuilder: ...

    def set_stream_pattern(self, stream_pattern: str) -> DynamicKafkaSourceBuilder: ...

    def set_kafka_stream_subscriber(
        self, kafka_stream_subscriber: KafkaStreamSubscriber
    ) -> DynamicKafkaSourceBuilder: ...

    def set_kafka_metadata_service(
        self, kafka_metadata_service: KafkaMetadataService
    ) -> DynamicKafkaSourceBuilder: ...

    def set_deserializer(
        self, deserializer: KafkaRecordDeserializationSchema
    ) -> DynamicKafkaSourceBuilder: ...

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> DynamicKafkaSourceBuilder: ...

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> DynamicKafkaSourceBuilder: ...

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> DynamicKafkaSourceBuilder: ...

    def set_properties(self, props: dict[str, str]) -> DynamicKafkaSourceBuilder: ...

    def set_property(self, key: str, value: str) -> DynamicKafkaSourceBuilder: ...

    def set_group_id(self, group_id: str) -> DynamicKafkaSourceBuilder: ...

    def set_client_id_prefix(self, prefix: str) -> DynamicKafkaSourceBuilder: ...


__getattr__ = missing_name(__name__)
