"""The sink that writes to Kafka topics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._connectors.kafka.config import Guarantee, KafkaSinkConfig
from pyflink_on_spark._connectors.kafka.records import RecordFormat
from pyflink_on_spark._connectors.kafka.sink import KafkaRecordSink
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common import Row, SerializationSchema, Types
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
    require,
)
from pyflink_on_spark.datastream.connectors.base import (
    DeliveryGuarantee,
    Sink,
    StreamTransformer,
    SupportsPreprocessing,
)

_LONGEST_PREFIX = 64_000


class KafkaSink(Sink, SupportsPreprocessing):
    """Writes to Kafka topics; made with ``builder()``.

    Args:
        j_kafka_sink: made by the builder.
        transformer: the transformation before the sink.

    Example::

        sink = (
            KafkaSink.builder()
            .set_bootstrap_servers("broker:9092")
            .set_record_serializer(serializer)
            .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
            .build()
        )
        orders.sink_to(sink)

    On Spark: needs confluent-kafka: ``pip install 'pyflink_on_spark[kafka]'``. With EXACTLY_ONCE
    records are part of the checkpoint; when it is complete, the driver writes the records of all
    subtasks in one transaction. Checkpoints without a folder need the driver's memory for the
    records. Without checkpoints the driver writes all records when the job ends. The consumer group
    ``<prefix>-written`` stores which checkpoints are written. Two sinks of one job with the same
    prefix are refused.
    """

    def __init__(self, j_kafka_sink, transformer: StreamTransformer | None = None):
        self._config = own_handle(j_kafka_sink, KafkaSinkConfig, "KafkaSink(j_kafka_sink)")
        super().__init__(KafkaRecordSink(self._config))
        self._transformer = transformer

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a builder of a sink without a guarantee."""
        return KafkaSinkBuilder()

    def get_transformer(self) -> StreamTransformer | None:
        """Return the transformation before the sink, or None."""
        return self._transformer


class KafkaSinkBuilder:
    """Configures a Kafka sink. Servers and the record serializer are required."""

    def __init__(self):
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema | None = None

    def build(self) -> KafkaSink:
        """Return the sink.

        Raises:
            ValueError: a required setting is missing.
        """
        require("bootstrap.servers" in self._properties, "bootstrapServers are not set")
        exactly_once = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        require(
            not exactly_once or self._prefix is not None,
            "EXACTLY_ONCE delivery guarantee requires a transactionalIdPrefix to be set, which "
            "no other sink of the same Kafka cluster has.",
        )
        if self._serializer is None:
            raise ValueError("recordSerializer is not set")
        config = KafkaSinkConfig(
            self._serializer._format,
            Guarantee[self._guarantee.name],
            self._prefix or "",
            dict(self._properties),
        )
        return KafkaSink(config, self._serializer._preprocessing())

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """Set the addresses of the cluster: ``host:port``, separated by commas."""
        servers = argument(bootstrap_servers, str, "set_bootstrap_servers(bootstrap_servers)")
        return self.set_property("bootstrap.servers", servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Set what the sink promises about records when the job fails; by default NONE."""
        call = "set_delivery_guarantee(delivery_guarantee)"
        self._guarantee = argument(delivery_guarantee, DeliveryGuarantee, call)
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Set the transactional id of the sink, for EXACTLY_ONCE.

        Keep the prefix from one run of the job to the next: the next run aborts a transaction that
        a failed run has left open.

        Raises:
            ValueError: the prefix is longer than 64,000 bytes.
        """
        call = "set_transactional_id_prefix(transactional_id_prefix)"
        prefix = argument(transactional_id_prefix, str, call)
        require(
            len(prefix.encode()) <= _LONGEST_PREFIX,
            "The configured prefix is too long and the resulting transactionalId might exceed "
            "Kafka's transactionalIds size.",
        )
        self._prefix = prefix
        return self

    def set_record_serializer(
        self, record_serializer: KafkaRecordSerializationSchema
    ) -> KafkaSinkBuilder:
        """Set how elements become records."""
        call = "set_record_serializer(record_serializer)"
        self._serializer = argument(record_serializer, KafkaRecordSerializationSchema, call)
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder:
        """Set a property of Kafka's producer."""
        self._properties.update(properties_argument({key: value}, "set_property(key, value)"))
        return self


class KafkaTopicSelector(ABC):
    """Chooses the topic of each element.

    Example::

        class ByCountry(KafkaTopicSelector):
            def apply(self, data):
                return f"orders-{data.country}"
    """

    @abstractmethod
    def apply(self, data) -> str:
        """Return the name of the topic of an element."""


class KafkaRecordSerializationSchema(SerializationSchema):
    """Makes Kafka records of elements; made with ``builder()``.

    Args:
        j_serialization_schema: made by the builder.
        topic_selector: chooses the topic of each element, or None for one topic.

    Example::

        serializer = (
            KafkaRecordSerializationSchema.builder()
            .set_topic("orders")
            .set_value_serialization_schema(SimpleStringSchema())
            .build()
        )
    """

    def __init__(self, j_serialization_schema, topic_selector: KafkaTopicSelector | None = None):
        super().__init__(j_serialization_schema)
        call = "KafkaRecordSerializationSchema(j_serialization_schema)"
        self._format = own_handle(j_serialization_schema, RecordFormat, call)
        self._topic_selector = topic_selector

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a builder. A topic and the serializer of the values are required."""
        return KafkaRecordSerializationSchemaBuilder()

    def _preprocessing(self) -> StreamTransformer | None:
        """Return the transformation before the sink that chooses topics, or None."""
        return None if self._topic_selector is None else _SelectTopic(self._topic_selector)


class KafkaRecordSerializationSchemaBuilder:
    """Configures how elements become Kafka records."""

    def __init__(self):
        self._topic: str | None = None
        self._topic_selector: KafkaTopicSelector | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None

    def build(self) -> KafkaRecordSerializationSchema:
        """Return the schema.

        Raises:
            ValueError: the topic or the serializer of the values is missing.
        """
        if self._value is None:
            raise ValueError("No value serializer is configured.")
        require(self._has_topic(), "No topic selector is configured.")
        key = None if self._key is None else UserFunction.of(self._key)
        records = RecordFormat(self._topic, key, UserFunction.of(self._value))
        return KafkaRecordSerializationSchema(records, self._topic_selector)

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        """Write all elements to one topic.

        Raises:
            ValueError: the builder has a topic or a topic selector already.
        """
        require(not self._has_topic(), "Topic selector already set.")
        self._topic = argument(topic, str, "set_topic(topic)")
        return self

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str] | KafkaTopicSelector
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Choose the topic of each element.

        Args:
            topic_selector: a ``KafkaTopicSelector``, or a function of the element.

        Raises:
            TypeError: it is neither.
            ValueError: the builder has a topic or a topic selector already.
        """
        if not isinstance(topic_selector, KafkaTopicSelector):
            if not callable(topic_selector):
                raise TypeError("topic_selector must be KafkaTopicSelector or a callable")
            topic_selector = _FunctionSelector(topic_selector)
        require(not self._has_topic(), "Topic selector already set.")
        self._topic_selector = topic_selector
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set the serializer of the records' keys; without it records have no keys.

        Raises:
            ValueError: the builder has one already.
        """
        call = "set_key_serialization_schema(key_serialization_schema)"
        require(self._key is None, "Key serializer already set.")
        self._key = argument(key_serialization_schema, SerializationSchema, call)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set the serializer of the records' values.

        Raises:
            ValueError: the builder has one already.
        """
        call = "set_value_serialization_schema(value_serialization_schema)"
        require(self._value is None, "Value serializer already set.")
        self._value = argument(value_serialization_schema, SerializationSchema, call)
        return self

    def _has_topic(self) -> bool:
        return self._topic is not None or self._topic_selector is not None


class _FunctionSelector(KafkaTopicSelector):
    def __init__(self, function: Callable[[Any], str]) -> None:
        self._function = function

    def apply(self, data) -> str:
        return self._function(data)


class _SelectTopic(StreamTransformer):
    """Makes a row of each element: the name of the topic, and the element."""

    def __init__(self, selector: KafkaTopicSelector) -> None:
        self._selector = selector

    def apply(self, ds: Any) -> object:
        selector = self._selector
        rows = Types.ROW([Types.STRING(), ds.get_type()])
        return ds.map(lambda value: Row(selector.apply(value), value), output_type=rows)
