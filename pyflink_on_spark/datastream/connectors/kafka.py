"""Kafka topics as sources and sinks."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any, cast

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.kafka.config import (
    Guarantee,
    KafkaSinkConfig,
    KafkaSourceConfig,
    OffsetRule,
    Reset,
    Subscription,
)
from pyflink_on_spark._connectors.kafka.reader import KafkaSplitSource
from pyflink_on_spark._connectors.kafka.records import RecordFormat
from pyflink_on_spark._connectors.kafka.sink import KafkaRecordSink
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common import DeserializationSchema, Row, SerializationSchema, Types
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
    require,
)
from pyflink_on_spark.datastream.connectors._former_kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaConsumerBase,  # noqa: F401 - PyFlink's module has it
    FlinkKafkaProducer,
    FlinkKafkaProducerBase,  # noqa: F401
    Semantic,
)
from pyflink_on_spark.datastream.connectors.base import (
    DeliveryGuarantee,
    Sink,
    Source,
    StreamTransformer,
    SupportsPreprocessing,
)

__all__ = [
    "FlinkKafkaConsumer",
    "FlinkKafkaProducer",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "Semantic",
    "KafkaTopicPartition",
    "KafkaOffsetsInitializer",
    "KafkaOffsetResetStrategy",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaTopicSelector",
]


class KafkaSource(Source):
    """Reads Kafka topics; made with ``builder()``.

    Args:
        j_kafka_source: made by the builder.

    Example::

        source = (
            KafkaSource.builder()
            .set_bootstrap_servers("broker:9092")
            .set_topics("orders")
            .set_group_id("billing")
            .set_starting_offsets(KafkaOffsetsInitializer.earliest())
            .set_value_only_deserializer(SimpleStringSchema())
            .build()
        )
        watermarks = WatermarkStrategy.for_monotonous_timestamps()
        orders = env.from_source(source, watermarks, "orders")

    On Spark: needs confluent-kafka: ``pip install 'pyflink_on_spark[kafka]'``. The offsets at
    which reading begins and ends are looked up when the job is submitted; a restart without a
    checkpoint begins at the same offsets. A subtask without partitions is idle: it does not hold
    back watermarks.
    """

    def __init__(self, j_kafka_source: object):
        call = "KafkaSource(j_kafka_source)"
        self._config = own_handle(j_kafka_source, KafkaSourceConfig, call)
        super().__init__(KafkaSplitSource(self._config))

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder of a source that reads from the earliest offsets and never ends."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder:
    """Configures a Kafka source. Servers, topics and a deserializer are required."""

    def __init__(self):
        self._properties: dict[str, str] = {}
        self._subscription: Subscription | None = None
        self._mode = ""
        self._starting = KafkaOffsetsInitializer.earliest()._rule
        self._stopping: OffsetRule | None = None
        self._bounded = False
        self._deserializer: DeserializationSchema | None = None

    def build(self) -> KafkaSource:
        """Return the source.

        Raises:
            ValueError: a required setting is missing.
        """
        require("bootstrap.servers" in self._properties, _required("bootstrap.servers"))
        if self._subscription is None:
            raise ValueError(
                "No subscribe mode is specified, should be one of topics, topic pattern and "
                "partition set."
            )
        if self._deserializer is None:
            raise ValueError("Deserialization schema is required but not provided.")
        if "group.id" not in self._properties:
            self._check_no_group_is_needed()
        commits = self._properties.get("commit.offsets.on.checkpoint", "true").lower() == "true"
        return KafkaSource(
            KafkaSourceConfig(
                self._subscription,
                self._starting,
                self._stopping,
                self._bounded,
                UserFunction.of(self._deserializer),
                self._deserializer._produced_type(),
                dict(self._properties),
                commits,
            )
        )

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """Set the addresses of the cluster: ``host:port``, separated by commas."""
        servers = argument(bootstrap_servers, str, "set_bootstrap_servers(bootstrap_servers)")
        return self.set_property("bootstrap.servers", servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Set the consumer group."""
        return self.set_property("group.id", argument(group_id, str, "set_group_id(group_id)"))

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        """Read all partitions of some topics, which have to exist.

        Raises:
            ValueError: the builder has topics, a pattern or partitions already.
        """
        names = tuple(argument(topic, str, "set_topics(*topics)") for topic in topics)
        return self._subscribe("topics", Subscription(topics=names))

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """Read the topics whose whole name matches a regular expression.

        Raises:
            ValueError: the builder has topics, a pattern or partitions already, or the expression
                is malformed.

        On Spark: the syntax of the expression is Python's, not Java's.
        """
        text = argument(topic_pattern, str, "set_topic_pattern(topic_pattern)")
        try:
            re.compile(text)
        except re.error as error:
            raise ValueError(f"the topic pattern {text!r} is malformed: {error}") from None
        return self._subscribe("topic pattern", Subscription(pattern=text))

    def set_partitions(self, partitions: set[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """Read some partitions only.

        Raises:
            ValueError: the builder has topics, a pattern or partitions already.
        """
        chosen = [
            argument(partition, KafkaTopicPartition, "set_partitions(partitions)")
            for partition in partitions
        ]
        keys = frozenset((partition._topic, partition._partition) for partition in chosen)
        return self._subscribe("partitions", Subscription(partitions=keys))

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where reading begins without a checkpoint; by default at the earliest offsets."""
        call = "set_starting_offsets(starting_offsets_initializer)"
        self._starting = _rule(starting_offsets_initializer, call)
        return self

    def set_unbounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where reading ends; the job still treats the source as unbounded."""
        call = "set_unbounded(stopping_offsets_initializer)"
        self._stopping, self._bounded = _rule(stopping_offsets_initializer, call), False
        return self

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where reading ends; the job treats the source as bounded."""
        call = "set_bounded(stopping_offsets_initializer)"
        self._stopping, self._bounded = _rule(stopping_offsets_initializer, call), True
        return self

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> KafkaSourceBuilder:
        """Set the deserializer of the records' values; keys are dropped."""
        call = "set_value_only_deserializer(deserialization_schema)"
        self._deserializer = argument(deserialization_schema, DeserializationSchema, call)
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set the beginning of the consumers' ids."""
        text = argument(prefix, str, "set_client_id_prefix(prefix)")
        return self.set_property("client.id.prefix", text)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """Set a property of Kafka's consumer."""
        return self.set_properties({key: value})

    def set_properties(self, props: dict[str, str]) -> KafkaSourceBuilder:
        """Add properties of Kafka's consumer to those that are set already."""
        self._properties.update(properties_argument(props, "set_properties(props)"))
        return self

    def _subscribe(self, mode: str, subscription: Subscription) -> KafkaSourceBuilder:
        require(
            self._subscription is None,
            f"Cannot use {mode} for consumption because {self._mode} are already set for "
            "consumption.",
        )
        self._mode, self._subscription = mode, subscription
        return self

    def _check_no_group_is_needed(self) -> None:
        for key in ("enable.auto.commit", "commit.offsets.on.checkpoint"):
            asked = self._properties.get(key, "").lower() == "true"
            require(not asked, "Property group.id is required when offset commit is enabled")
        for rule in (self._starting, self._stopping):
            committed = rule is not None and rule.kind == "committed"
            require(not committed, _required("group.id") + " Committed offsets are a group's.")


def _rule(initializer: object, call: str) -> OffsetRule:
    return argument(initializer, KafkaOffsetsInitializer, call)._rule


def _required(key: str) -> str:
    return f"Property {key} is required but not provided."


class KafkaTopicPartition:
    """One partition of a topic.

    Args:
        topic: the name of the topic.
        partition: the number of the partition, from 0.
    """

    def __init__(self, topic: str, partition: int):
        self._topic = topic
        self._partition = partition

    def __eq__(self, other):
        if not isinstance(other, KafkaTopicPartition):
            return False
        return (self._topic, self._partition) == (other._topic, other._partition)

    def __hash__(self):
        return hash((self._topic, self._partition))

    def __repr__(self) -> str:
        return f"KafkaTopicPartition({self._topic!r}, {self._partition!r})"


class KafkaOffsetResetStrategy(Enum):
    """The offset at which reading begins where the requested one does not exist.

    Attributes:
        LATEST: after the last record.
        EARLIEST: at the first record.
        NONE: nowhere; the job fails.
    """

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class KafkaOffsetsInitializer:
    """One offset in each partition, at which reading begins or ends.

    Args:
        j_initializer: made by the static methods of this class.
    """

    def __init__(self, j_initializer: object):
        call = "KafkaOffsetsInitializer(j_initializer)"
        self._rule = own_handle(j_initializer, OffsetRule, call)

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Use the offsets that the consumer group has committed.

        Args:
            offset_reset_strategy: what to do in a partition without a committed offset.
        """
        reset = _reset(offset_reset_strategy, "committed_offsets(offset_reset_strategy)")
        return KafkaOffsetsInitializer(OffsetRule("committed", reset))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Use the first record with this timestamp or a later one.

        Args:
            timestamp: ms since the epoch.
        """
        since = argument(timestamp, int, "timestamp(timestamp)")
        return KafkaOffsetsInitializer(OffsetRule("timestamp", timestamp=since))

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Use the first record of each partition."""
        return KafkaOffsetsInitializer(OffsetRule("earliest", "earliest"))

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Use the end of each partition at the time when the job starts."""
        return KafkaOffsetsInitializer(OffsetRule("latest", "latest"))

    @staticmethod
    def offsets(
        offsets: dict[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Use the given offsets.

        Args:
            offsets: the offset of each partition.
            offset_reset_strategy: what to do in a partition where the offset is out of range.
        """
        call = "offsets(offsets, offset_reset_strategy)"
        specified = {}
        for partition, offset in argument(offsets, dict, call).items():
            key = argument(partition, KafkaTopicPartition, call)
            specified[key._topic, key._partition] = argument(offset, int, call)
        reset = _reset(offset_reset_strategy, call)
        return KafkaOffsetsInitializer(OffsetRule("specified", reset, specified=specified))


def _reset(strategy: object, call: str) -> Reset:
    return cast("Reset", argument(strategy, KafkaOffsetResetStrategy, call).name.lower())


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


__getattr__ = missing_name(__name__)
