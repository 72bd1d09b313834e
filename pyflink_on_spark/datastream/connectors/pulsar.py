# mypy: disable-error-code="empty-body"
"""Pulsar's topics as sources and sinks: names and signatures only, for there is no client yet."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common import (
    ConfigOption,
    DeserializationSchema,
    Duration,
    SerializationSchema,
    TypeInformation,
)
from pyflink_on_spark.datastream._java_gaps import without_java_object
from pyflink_on_spark.datastream.connectors._not_yet import without_client
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee, Sink, Source

__all__ = [
    "PulsarSource",
    "PulsarSourceBuilder",
    "StartCursor",
    "StopCursor",
    "RangeGenerator",
    "PulsarSink",
    "PulsarSinkBuilder",
    "MessageDelayer",
    "TopicRoutingMode",
]

_not_yet = without_client("Pulsar")


class SubscriptionType(Enum):
    """How consumers share a subscription (removed in PyFlink 1.18)."""

    # The tuples are PyFlink's values.
    Exclusive = (0,)
    Shared = (1,)
    Failover = (2,)
    Key_Shared = 3


class TopicRoutingMode(Enum):
    """Which partition a message goes to."""

    ROUND_ROBIN = 0
    MESSAGE_KEY_HASH = 1
    CUSTOM = 2


@_not_yet
class PulsarDeserializationSchema:
    """Makes elements of messages (removed in PyFlink 1.18)."""

    def __init__(self, _j_pulsar_deserialization_schema): ...

    @staticmethod
    def flink_schema(
        deserialization_schema: DeserializationSchema,
    ) -> PulsarDeserializationSchema: ...

    @staticmethod
    @without_java_object("Use flink_schema with a DeserializationSchema.")
    def flink_type_info(type_information: TypeInformation, execution_config: Any = None): ...


@_not_yet
class PulsarSerializationSchema:
    """Makes messages of elements (removed in PyFlink 1.18)."""

    def __init__(self, _j_pulsar_serialization_schema): ...

    @staticmethod
    def flink_schema(serialization_schema: SerializationSchema) -> PulsarSerializationSchema: ...


@_not_yet
class StartCursor:
    """Where reading begins."""

    def __init__(self, _j_start_cursor): ...

    @staticmethod
    def default_start_cursor() -> StartCursor: ...

    @staticmethod
    def earliest() -> StartCursor: ...

    @staticmethod
    def latest() -> StartCursor: ...

    @staticmethod
    def from_message_id(message_id: bytes, inclusive: bool = True) -> StartCursor: ...

    @staticmethod
    def from_publish_time(timestamp: int) -> StartCursor: ...

    @staticmethod
    def from_message_time(timestamp: int) -> StartCursor: ...


@_not_yet
class StopCursor:
    """Where reading ends."""

    def __init__(self, _j_stop_cursor): ...

    @staticmethod
    def default_stop_cursor() -> StopCursor: ...

    @staticmethod
    def never() -> StopCursor: ...

    @staticmethod
    def latest() -> StopCursor: ...

    @staticmethod
    def at_event_time(timestamp: int) -> StopCursor: ...

    @staticmethod
    def after_event_time(timestamp: int) -> StopCursor: ...

    @staticmethod
    def at_publish_time(timestamp: int) -> StopCursor: ...

    @staticmethod
    def after_publish_time(timestamp: int) -> StopCursor: ...

    @staticmethod
    def at_message_id(message_id: bytes) -> StopCursor: ...

    @staticmethod
    def after_message_id(message_id: bytes) -> StopCursor: ...


@_not_yet
class RangeGenerator:
    """Which keys are read."""

    def __init__(self, j_range_generator): ...

    @staticmethod
    def full() -> RangeGenerator: ...

    @staticmethod
    def fixed_key(
        support_null_key: bool = False,
        keys: str | list[str] | None = None,
        key_bytes: bytes | None = None,
        ordering_key_bytes: bytes | None = None,
    ) -> RangeGenerator: ...


@_not_yet
class MessageDelayer:
    """When consumers get a message."""

    def __init__(self, _j_message_delayer): ...

    @staticmethod
    def never() -> MessageDelayer: ...

    @staticmethod
    def fixed(duration: Duration) -> MessageDelayer: ...


@_not_yet
class PulsarSource(Source):
    """Reads Pulsar's topics."""

    def __init__(self, j_pulsar_source): ...

    @staticmethod
    def builder() -> PulsarSourceBuilder: ...


@_not_yet
class PulsarSourceBuilder:
    """Configures a source."""

    def __init__(self): ...

    def set_admin_url(self, admin_url: str) -> PulsarSourceBuilder: ...

    def set_service_url(self, service_url: str) -> PulsarSourceBuilder: ...

    def set_subscription_name(self, subscription_name: str) -> PulsarSourceBuilder: ...

    def set_subscription_type(self, subscription_type: SubscriptionType) -> PulsarSourceBuilder: ...

    def set_topics(self, topics: str | list[str]) -> PulsarSourceBuilder: ...

    def set_topic_pattern(self, topic_pattern: str) -> PulsarSourceBuilder: ...

    def set_topics_pattern(self, topics_pattern: str) -> PulsarSourceBuilder: ...

    def set_consumer_name(self, consumer_name: str) -> PulsarSourceBuilder: ...

    def set_range_generator(self, range_generator: RangeGenerator) -> PulsarSourceBuilder: ...

    def set_start_cursor(self, start_cursor: StartCursor) -> PulsarSourceBuilder: ...

    def set_unbounded_stop_cursor(self, stop_cursor: StopCursor) -> PulsarSourceBuilder: ...

    def set_bounded_stop_cursor(self, stop_cursor: StopCursor) -> PulsarSourceBuilder: ...

    def set_deserialization_schema(
        self, deserialization_schema: DeserializationSchema
    ) -> PulsarSourceBuilder: ...

    def set_authentication(
        self, auth_plugin_class_name: str, auth_params_string: str | dict[str, str]
    ) -> PulsarSourceBuilder: ...

    def set_config(self, key: str | ConfigOption, value) -> PulsarSourceBuilder: ...

    def set_config_with_dict(self, config: dict) -> PulsarSourceBuilder: ...

    def set_properties(self, config: dict) -> PulsarSourceBuilder: ...

    def build(self) -> PulsarSource: ...


@_not_yet
class PulsarSink(Sink):
    """Writes to Pulsar's topics."""

    def __init__(self, j_pulsar_sink): ...

    @staticmethod
    def builder() -> PulsarSinkBuilder: ...


@_not_yet
class PulsarSinkBuilder:
    """Configures a sink."""

    def __init__(self): ...

    def set_admin_url(self, admin_url: str) -> PulsarSinkBuilder: ...

    def set_service_url(self, service_url: str) -> PulsarSinkBuilder: ...

    def set_producer_name(self, producer_name: str) -> PulsarSinkBuilder: ...

    def set_topics(self, topics: str | list[str]) -> PulsarSinkBuilder: ...

    def set_delivery_guarantee(
        self, delivery_guarantee: DeliveryGuarantee
    ) -> PulsarSinkBuilder: ...

    def set_topic_routing_mode(self, topic_routing_mode: TopicRoutingMode) -> PulsarSinkBuilder: ...

    @without_java_object("Use set_topic_routing_mode.")
    def set_topic_router(self, topic_router_class_name: str): ...

    def set_serialization_schema(
        self, serialization_schema: SerializationSchema
    ) -> PulsarSinkBuilder: ...

    def delay_sending_message(self, message_delayer: MessageDelayer) -> PulsarSinkBuilder: ...

    def set_authentication(
        self, auth_plugin_class_name: str, auth_params_string: str | dict[str, str]
    ) -> PulsarSinkBuilder: ...

    def set_config(self, key: str, value) -> PulsarSinkBuilder: ...

    def set_properties(self, config: dict) -> PulsarSinkBuilder: ...

    def build(self) -> PulsarSink: ...


__getattr__ = missing_name(__name__)
