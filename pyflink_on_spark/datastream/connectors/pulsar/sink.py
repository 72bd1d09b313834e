"""The sink that writes to Pulsar's topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.renamed_parameters import renamed
from pyflink_on_spark._compat.unsupported import Gap, unsupported
from pyflink_on_spark.common import Duration, SerializationSchema
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument
from pyflink_on_spark.datastream.connectors._not_yet import connector_gap
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee, Sink
from pyflink_on_spark.datastream.connectors.pulsar.client_options import ClientOptions
from pyflink_on_spark.datastream.connectors.pulsar.schemas import serializer_of


class TopicRoutingMode(Enum):
    """Which of the topics' partitions a message goes to.

    Attributes:
        ROUND_ROBIN: each in turn.
        MESSAGE_KEY_HASH: the one that the key says.
        CUSTOM: the one that a Java class says.
    """

    ROUND_ROBIN = 0
    MESSAGE_KEY_HASH = 1
    CUSTOM = 2


class MessageDelayer:
    """Says when consumers get a message.

    Args:
        _j_message_delayer: after how long; the methods below make it.
    """

    def __init__(self, _j_message_delayer):
        call = "MessageDelayer(_j_message_delayer)"
        self._delay = own_handle(_j_message_delayer, Duration, call)

    @staticmethod
    def never() -> MessageDelayer:
        """At once."""
        return MessageDelayer(Duration.of_millis(0))

    @staticmethod
    def fixed(duration: Duration) -> MessageDelayer:
        """After some time."""
        return MessageDelayer(argument(duration, Duration, "MessageDelayer.fixed(duration)"))


@dataclass(frozen=True)
class PulsarWriting:
    """What a Pulsar sink was told.

    Attributes:
        topics: the topics' names; empty: none was named.
        serializer: what makes messages of elements.
        guarantee: what happens to messages when the job fails.
        routing: which partition a message goes to.
        delay: when consumers get it.
        options: all else, by the names of Flink's options.
    """

    topics: tuple[str, ...]
    serializer: SerializationSchema
    guarantee: DeliveryGuarantee
    routing: TopicRoutingMode
    delay: Duration
    options: dict[str, Any] = field(repr=False)


class PulsarSink(Sink):
    """Writes to Pulsar's topics; made with ``builder()``.

    Args:
        j_pulsar_sink: what the sink was told.
    """

    _sink = connector_gap("Pulsar")

    def __init__(self, j_pulsar_sink):
        self._options = own_handle(j_pulsar_sink, PulsarWriting, "PulsarSink(j_pulsar_sink)")
        super().__init__(sink=j_pulsar_sink)

    @staticmethod
    def builder() -> PulsarSinkBuilder:
        """Begin with a sink that guarantees nothing and routes in turn."""
        return PulsarSinkBuilder()


def _set_topic_router(self, topic_router_class_name: str):
    """Choose a partition with a Java class. On Spark: raises."""


_set_topic_router.__qualname__ = "PulsarSinkBuilder.set_topic_router"


class PulsarSinkBuilder(ClientOptions):
    """Says how a sink writes. The service's URL and a serializer have to be set."""

    def __init__(self):
        super().__init__()
        self._topics: tuple[str, ...] = ()
        self._serializer: SerializationSchema | None = None
        self._guarantee = DeliveryGuarantee.NONE
        self._routing = TopicRoutingMode.ROUND_ROBIN
        self._delayer = MessageDelayer.never()

    def set_producer_name(self, producer_name: str) -> PulsarSinkBuilder:
        """Set the name that statistics show."""
        return self._set_text("pulsar.producer.producerName", producer_name)

    def set_topics(self, topics: str | list[str]) -> PulsarSinkBuilder:
        """Write to a topic, or to a list of topics."""
        names = topics if isinstance(topics, list) else [topics]
        self._topics = tuple(argument(name, str, "set_topics(topics)") for name in names)
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> PulsarSinkBuilder:
        """Set what happens to messages when the job fails; NONE without this."""
        call = "set_delivery_guarantee(delivery_guarantee)"
        self._guarantee = argument(delivery_guarantee, DeliveryGuarantee, call)
        return self

    def set_topic_routing_mode(self, topic_routing_mode: TopicRoutingMode) -> PulsarSinkBuilder:
        """Set which partition a message goes to.

        Raises:
            ValueError: it is CUSTOM, which is a Java class's choice.
        """
        call = "set_topic_routing_mode(topic_routing_mode)"
        mode = argument(topic_routing_mode, TopicRoutingMode, call)
        if mode is TopicRoutingMode.CUSTOM:
            raise ValueError("CUSTOM mode should be set by using set_topic_router.")
        self._routing = mode
        return self

    set_topic_router = unsupported(
        _set_topic_router,
        kind=Gap.NEVER,
        reason="a Java class has no meaning outside Flink's JVM",
        instead="Use set_topic_routing_mode.",
    )

    @renamed(serialization_schema="pulsar_serialization_schema")
    def set_serialization_schema(
        self, serialization_schema: SerializationSchema
    ) -> PulsarSinkBuilder:
        """Set what makes messages of elements."""
        call = "set_serialization_schema(serialization_schema)"
        self._serializer = serializer_of(serialization_schema, call)
        return self

    def delay_sending_message(self, message_delayer: MessageDelayer) -> PulsarSinkBuilder:
        """Set when consumers get a message; at once without this."""
        call = "delay_sending_message(message_delayer)"
        self._delayer = argument(message_delayer, MessageDelayer, call)
        return self

    def set_config(self, key: str, value) -> PulsarSinkBuilder:
        """Set an option by its name."""
        return self._set(argument(key, str, "set_config(key, value)"), value)

    def build(self) -> PulsarSink:
        """Return the sink.

        Raises:
            ValueError: something that has to be set is not.
        """
        self._require("pulsar.client.serviceUrl")
        if self._serializer is None:
            raise ValueError("serializationSchema must be set.")
        return PulsarSink(
            PulsarWriting(
                self._topics,
                self._serializer,
                self._guarantee,
                self._routing,
                self._delayer._delay,
                dict(self._options),
            )
        )
