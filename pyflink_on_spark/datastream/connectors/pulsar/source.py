"""The source that reads Pulsar's topics."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.renamed_parameters import renamed
from pyflink_on_spark.common import ConfigOption, DeserializationSchema
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors._not_yet import connector_gap
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.connectors.pulsar.client_options import ClientOptions
from pyflink_on_spark.datastream.connectors.pulsar.positions import (
    KeyRange,
    Position,
    RangeGenerator,
    StartCursor,
    StopCursor,
)
from pyflink_on_spark.datastream.connectors.pulsar.schemas import deserializer_of


class SubscriptionType(Enum):
    """How consumers share a subscription (removed in 1.18, which has Exclusive only).

    Attributes:
        Exclusive: there is one.
        Shared: each message goes to any of them.
        Failover: one gets all messages, the next one when it fails.
        Key_Shared: each key goes to one of them.
    """

    # The tuples are PyFlink's values.
    Exclusive = (0,)
    Shared = (1,)
    Failover = (2,)
    Key_Shared = 3


@dataclass(frozen=True)
class PulsarReading:
    """What a Pulsar source was told.

    Attributes:
        topics: the topics' names; None if there is a pattern.
        topic_pattern: what topics' names match, as Java's regular expression; or None.
        keys: which keys are read; None: all.
        starting: where reading begins.
        stopping: where it ends.
        bounded: whether the job sees an input that ends.
        deserializer: what makes elements of messages.
        options: all else, by the names of Flink's options.
    """

    topics: tuple[str, ...] | None
    topic_pattern: str | None
    keys: KeyRange | None
    starting: Position
    stopping: Position
    bounded: bool
    deserializer: DeserializationSchema
    options: dict[str, Any] = field(repr=False)


class PulsarSource(Source):
    """Reads Pulsar's topics; made with ``builder()``.

    Args:
        j_pulsar_source: what the source was told.
    """

    _source = connector_gap("Pulsar")

    def __init__(self, j_pulsar_source):
        call = "PulsarSource(j_pulsar_source)"
        self._options = own_handle(j_pulsar_source, PulsarReading, call)
        super().__init__(source=j_pulsar_source)

    @staticmethod
    def builder() -> PulsarSourceBuilder:
        """Begin with a source that reads from the first message on and never ends."""
        return PulsarSourceBuilder()


class PulsarSourceBuilder(ClientOptions):
    """Says what a source reads.

    The service's URL, topics, the subscription's name and a deserializer have to be set.
    """

    def __init__(self):
        super().__init__()
        self._topics: tuple[str, ...] | None = None
        self._pattern: str | None = None
        self._keys: KeyRange | None = None
        self._starting = StartCursor.default_start_cursor()._position
        self._stopping = StopCursor.default_stop_cursor()._position
        self._bounded = False
        self._deserializer: DeserializationSchema | None = None

    def set_subscription_name(self, subscription_name: str) -> PulsarSourceBuilder:
        """Set the subscription's name."""
        return self._set_text("pulsar.consumer.subscriptionName", subscription_name)

    def set_subscription_type(self, subscription_type: SubscriptionType) -> PulsarSourceBuilder:
        """Set how consumers share the subscription (removed in 1.18)."""
        call = "set_subscription_type(subscription_type)"
        chosen = argument(subscription_type, SubscriptionType, call)
        return self._set("pulsar.consumer.subscriptionType", chosen.name)

    def set_topics(self, topics: str | list[str]) -> PulsarSourceBuilder:
        """Read a topic, or a list of topics.

        Raises:
            ValueError: topics or a pattern are set already.
        """
        names = topics if isinstance(topics, list) else [topics]
        self._require_no_topics()
        self._topics = tuple(argument(name, str, "set_topics(topics)") for name in names)
        return self

    def set_topic_pattern(self, topic_pattern: str) -> PulsarSourceBuilder:
        """Read the topics whose names match a regular expression of Java's.

        Raises:
            ValueError: topics or a pattern are set already.
        """
        self._require_no_topics()
        self._pattern = argument(topic_pattern, str, "set_topic_pattern(topic_pattern)")
        return self

    def set_topics_pattern(self, topics_pattern: str) -> PulsarSourceBuilder:
        """Read the topics whose names match (removed in 1.18, use ``set_topic_pattern``)."""
        warnings.warn(
            "set_topics_pattern is deprecated, use set_topic_pattern",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.set_topic_pattern(topics_pattern)

    def set_consumer_name(self, consumer_name: str) -> PulsarSourceBuilder:
        """Set the name that statistics show."""
        return self._set_text("pulsar.consumer.consumerName", consumer_name)

    def set_range_generator(self, range_generator: RangeGenerator) -> PulsarSourceBuilder:
        """Set which keys are read."""
        call = "set_range_generator(range_generator)"
        self._keys = argument(range_generator, RangeGenerator, call)._range
        return self

    def set_start_cursor(self, start_cursor: StartCursor) -> PulsarSourceBuilder:
        """Set where reading begins."""
        call = "set_start_cursor(start_cursor)"
        self._starting = argument(start_cursor, StartCursor, call)._position
        return self

    def set_unbounded_stop_cursor(self, stop_cursor: StopCursor) -> PulsarSourceBuilder:
        """Set where reading ends, of a source that still counts as unbounded."""
        return self._stop_at(stop_cursor, False, "set_unbounded_stop_cursor(stop_cursor)")

    def set_bounded_stop_cursor(self, stop_cursor: StopCursor) -> PulsarSourceBuilder:
        """Set where reading ends, of a source that counts as bounded."""
        return self._stop_at(stop_cursor, True, "set_bounded_stop_cursor(stop_cursor)")

    @renamed(deserialization_schema="pulsar_deserialization_schema")
    def set_deserialization_schema(
        self, deserialization_schema: DeserializationSchema
    ) -> PulsarSourceBuilder:
        """Set what makes elements of messages."""
        call = "set_deserialization_schema(deserialization_schema)"
        self._deserializer = deserializer_of(deserialization_schema, call)
        return self

    def set_config(self, key: str | ConfigOption, value) -> PulsarSourceBuilder:
        """Set an option by its name."""
        if isinstance(key, ConfigOption):
            warnings.warn(
                "set_config with a ConfigOption is deprecated, use the option's name",
                DeprecationWarning,
                stacklevel=2,
            )
            return self._set(key._option.key, value)
        return self._set(argument(key, str, "set_config(key, value)"), value)

    def set_config_with_dict(self, config: dict) -> PulsarSourceBuilder:
        """Set options by their names (deprecated, use ``set_properties``)."""
        warnings.warn(
            "set_config_with_dict is deprecated, use set_properties",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.set_properties(config)

    def build(self) -> PulsarSource:
        """Return the source.

        Raises:
            ValueError: something that has to be set is not.
        """
        self._require("pulsar.client.serviceUrl")
        self._require("pulsar.consumer.subscriptionName")
        require(self._has_topics(), "No topic names or topic pattern are provided.")
        if self._deserializer is None:
            raise ValueError("deserializationSchema should be set.")
        return PulsarSource(
            PulsarReading(
                self._topics,
                self._pattern,
                self._keys,
                self._starting,
                self._stopping,
                self._bounded,
                self._deserializer,
                dict(self._options),
            )
        )

    def _stop_at(self, cursor: StopCursor, bounded: bool, call: str) -> PulsarSourceBuilder:
        self._stopping = argument(cursor, StopCursor, call)._position
        self._bounded = bounded
        return self

    def _has_topics(self) -> bool:
        return self._topics is not None or self._pattern is not None

    def _require_no_topics(self) -> None:
        require(not self._has_topics(), "Topics or a topic pattern are set already.")
