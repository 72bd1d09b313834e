"""The source that reads Kafka topics."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._connectors.kafka.source import KafkaSourceConfig, KafkaSplitSource
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common import DeserializationSchema
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import (
    argument,
    properties_argument,
    require,
)
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.connectors.kafka.offsets import (
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Offsets,
    OffsetsKind,
    partitions_to_read,
)


@dataclass(frozen=True)
class KafkaSourceOptions:
    """What a Kafka source was told.

    Attributes:
        subscription: a tuple of topics' names, a compiled pattern that a topic's whole name
            matches, or a frozenset of partitions.
        starting: where reading begins.
        stopping: where it ends; None: never.
        bounded: whether the job sees an input that ends.
        deserializer: what makes elements of the records' values.
        properties: the client's properties, as they were given.
    """

    subscription: tuple[str, ...] | re.Pattern[str] | frozenset[KafkaTopicPartition]
    starting: Offsets
    stopping: Offsets | None
    bounded: bool
    deserializer: DeserializationSchema
    properties: dict[str, str] = field(repr=False)

    def _runtime(self) -> KafkaSplitSource:
        """Return what reads."""
        reading = KafkaSourceConfig(
            partitions_to_read(self.subscription),
            self.starting._rule(),
            None if self.stopping is None else self.stopping._rule(),
            self.bounded,
            UserFunction.of(self.deserializer),
            self.properties,
            self._commits_on_checkpoints(),
        )
        return KafkaSplitSource(reading, self.deserializer._produced_type())

    def _commits_on_checkpoints(self) -> bool:
        return self.properties.get("commit.offsets.on.checkpoint", "true").lower() == "true"


class KafkaSource(Source):
    """Reads Kafka topics; made with ``builder()``.

    Args:
        j_kafka_source: what the source was told.

    On Spark: read with confluent-kafka: ``pip install 'pyflink_on_spark[kafka]'``. Where reading
    begins and ends is looked up when the job is submitted; a restart without a checkpoint begins
    there again. A subtask without partitions holds no watermarks back.
    """

    def __init__(self, j_kafka_source: Any):
        call = "KafkaSource(j_kafka_source)"
        self._options = own_handle(j_kafka_source, KafkaSourceOptions, call)
        super().__init__(self._options._runtime())

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Begin with a source that reads from the earliest offsets and never ends."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder:
    """Says what a Kafka source reads. Servers, topics and a deserializer have to be set."""

    def __init__(self):
        self._properties: dict[str, str] = {}
        self._subscription: Any = None
        self._mode = ""
        self._starting = KafkaOffsetsInitializer.earliest()._offsets
        self._stopping: Offsets | None = None
        self._bounded = False
        self._deserializer: DeserializationSchema | None = None

    def build(self) -> KafkaSource:
        """Return the source.

        Raises:
            ValueError: something that has to be set is not.
        """
        require("bootstrap.servers" in self._properties, _required("bootstrap.servers"))
        require(
            self._subscription is not None,
            "No subscribe mode is specified, should be one of topics, topic pattern and "
            "partition set.",
        )
        if self._deserializer is None:
            raise ValueError("Deserialization schema is required but not provided.")
        if "group.id" not in self._properties:
            self._check_no_group_is_needed()
        return KafkaSource(
            KafkaSourceOptions(
                self._subscription,
                self._starting,
                self._stopping,
                self._bounded,
                self._deserializer,
                dict(self._properties),
            )
        )

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """Set where the cluster is found: ``host:port``, several with commas."""
        servers = argument(bootstrap_servers, str, "set_bootstrap_servers(bootstrap_servers)")
        return self.set_property("bootstrap.servers", servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Set the consumer group."""
        return self.set_property("group.id", argument(group_id, str, "set_group_id(group_id)"))

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        """Read all partitions of some topics, which have to exist.

        Raises:
            ValueError: what to read is set already.
        """
        names = tuple(argument(topic, str, "set_topics(*topics)") for topic in topics)
        return self._subscribe("topics", names)

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """Read the topics whose whole name matches a regular expression.

        Raises:
            ValueError: what to read is set already, or the expression is malformed.

        On Spark: the expression is Python's, not Java's.
        """
        text = argument(topic_pattern, str, "set_topic_pattern(topic_pattern)")
        try:
            pattern = re.compile(text)
        except re.error as error:
            raise ValueError(f"the topic pattern {text!r} is malformed: {error}") from None
        return self._subscribe("topic pattern", pattern)

    def set_partitions(self, partitions: set[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """Read some partitions only.

        Raises:
            ValueError: what to read is set already.
        """
        chosen = frozenset(
            argument(partition, KafkaTopicPartition, "set_partitions(partitions)")
            for partition in partitions
        )
        return self._subscribe("partitions", chosen)

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where reading begins, unless a checkpoint knows better; the earliest without this."""
        call = "set_starting_offsets(starting_offsets_initializer)"
        self._starting = _offsets(starting_offsets_initializer, call)
        return self

    def set_unbounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where reading ends, of a source that still counts as unbounded."""
        call = "set_unbounded(stopping_offsets_initializer)"
        self._stopping, self._bounded = _offsets(stopping_offsets_initializer, call), False
        return self

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where reading ends, of a source that counts as bounded."""
        call = "set_bounded(stopping_offsets_initializer)"
        self._stopping, self._bounded = _offsets(stopping_offsets_initializer, call), True
        return self

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> KafkaSourceBuilder:
        """Set what makes elements of the records' values; their keys are dropped."""
        call = "set_value_only_deserializer(deserialization_schema)"
        self._deserializer = argument(deserialization_schema, DeserializationSchema, call)
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set what the names of the consumers begin with."""
        text = argument(prefix, str, "set_client_id_prefix(prefix)")
        return self.set_property("client.id.prefix", text)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """Set a property of Kafka's consumer."""
        return self.set_properties({key: value})

    def set_properties(self, props: dict[str, str]) -> KafkaSourceBuilder:
        """Set properties of Kafka's consumer, beside those that are set already."""
        self._properties.update(properties_argument(props, "set_properties(props)"))
        return self

    def _subscribe(self, mode: str, subscription: Any) -> KafkaSourceBuilder:
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
        for offsets in (self._starting, self._stopping):
            committed = offsets is not None and offsets.kind is OffsetsKind.COMMITTED
            require(not committed, _required("group.id") + " Committed offsets are a group's.")


def _offsets(initializer: Any, call: str) -> Offsets:
    return argument(initializer, KafkaOffsetsInitializer, call)._offsets


def _required(key: str) -> str:
    return f"Property {key} is required but not provided."
