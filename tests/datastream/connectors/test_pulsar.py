"""What Pulsar's connectors are told and refuse, and that they say that nothing reads them."""

from __future__ import annotations

import pytest

from pyflink_on_spark._compat.errors import UnsupportedFlinkFeature
from pyflink_on_spark.common import (
    ConfigOptions,
    Duration,
    SimpleStringSchema,
    Types,
    WatermarkStrategy,
)
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.base import DeliveryGuarantee
from pyflink_on_spark.datastream.connectors.pulsar import (
    MessageDelayer,
    PulsarDeserializationSchema,
    PulsarSerializationSchema,
    PulsarSink,
    PulsarSource,
    RangeGenerator,
    StartCursor,
    StopCursor,
    SubscriptionType,
    TopicRoutingMode,
)
from pyflink_on_spark.datastream.connectors.pulsar.positions import (
    KeyRange,
    Position,
    PositionKind,
)


def source_builder():
    builder = PulsarSource.builder().set_service_url("pulsar://host:6650")
    builder.set_topics("t").set_subscription_name("s")
    return builder.set_deserialization_schema(SimpleStringSchema())


def sink_builder():
    builder = PulsarSink.builder().set_service_url("pulsar://host:6650").set_topics(["a", "b"])
    return builder.set_serialization_schema(SimpleStringSchema())


class TestSource:
    def test_keeps_what_it_was_told(self):
        builder = source_builder().set_admin_url("http://host:8080").set_consumer_name("c")
        builder.set_start_cursor(StartCursor.latest())
        builder.set_bounded_stop_cursor(StopCursor.at_publish_time(5))
        builder.set_range_generator(RangeGenerator.fixed_key(keys="k"))
        builder.set_config("pulsar.source.enableAutoAcknowledgeMessage", True)
        builder.set_properties({"pulsar.client.x": "y"})
        options = builder.set_authentication("Auth", {"token": "secret"}).build()._options
        assert options.topics == ("t",)
        assert options.starting.kind is PositionKind.LATEST
        assert options.stopping == Position(PositionKind.PUBLISH_TIME, 5)
        assert options.bounded
        assert options.keys == KeyRange(("k",))
        assert options.options == {
            "pulsar.client.serviceUrl": "pulsar://host:6650",
            "pulsar.admin.adminUrl": "http://host:8080",
            "pulsar.consumer.subscriptionName": "s",
            "pulsar.consumer.consumerName": "c",
            "pulsar.source.enableAutoAcknowledgeMessage": True,
            "pulsar.client.x": "y",
            "pulsar.client.authPluginClassName": "Auth",
            "pulsar.client.authParamMap": {"token": "secret"},
        }
        assert "secret" not in repr(options)

    def test_reads_all_for_ever_unless_told_otherwise(self):
        options = source_builder().build()._options
        assert options.starting.kind is PositionKind.EARLIEST
        assert options.stopping.kind is PositionKind.NEVER
        assert not options.bounded

    def test_an_option_is_set_once(self):
        with pytest.raises(ValueError, match="serviceUrl is set already"):
            source_builder().set_service_url("pulsar://other:6650")

    def test_topics_are_set_once(self):
        with pytest.raises(ValueError, match="set already"):
            source_builder().set_topic_pattern("t.*")

    def test_what_has_to_be_set(self):
        builder = PulsarSource.builder()
        for told, text in [
            (lambda: None, "serviceUrl is required"),
            (lambda: builder.set_service_url("pulsar://host:6650"), "subscriptionName is requ"),
            (lambda: builder.set_subscription_name("s"), "No topic names"),
            (lambda: builder.set_topics(["t"]), "deserializationSchema should be set"),
        ]:
            told()
            with pytest.raises(ValueError, match=text):
                builder.build()

    def test_scripts_for_older_versions(self):
        builder = PulsarSource.builder().set_service_url("pulsar://host:6650")
        builder.set_subscription_name("s").set_subscription_type(SubscriptionType.Exclusive)
        with pytest.deprecated_call(match="set_topic_pattern"):
            builder.set_topics_pattern("t.*")
        with pytest.deprecated_call(match="from_publish_time"):
            builder.set_start_cursor(StartCursor.from_message_time(3))
        with pytest.deprecated_call(match="the option's name"):
            builder.set_config(ConfigOptions.key("a").string_type().no_default_value(), "b")
        with pytest.deprecated_call(match="set_properties"):
            builder.set_config_with_dict({"c": "d"})
        schema = PulsarDeserializationSchema.flink_schema(SimpleStringSchema())
        options = builder.set_deserialization_schema(schema).build()._options
        assert options.topic_pattern == "t.*"
        assert options.starting == Position(PositionKind.PUBLISH_TIME, 3)
        assert isinstance(options.deserializer, SimpleStringSchema)
        assert options.options["pulsar.consumer.subscriptionType"] == "Exclusive"
        assert options.options["a"] == "b"
        assert options.options["c"] == "d"
        with pytest.raises(UnsupportedFlinkFeature, match="flink_schema"):
            PulsarDeserializationSchema.flink_type_info(Types.STRING())

    def test_using_it_says_what_is_missing(self):
        env = StreamExecutionEnvironment.get_execution_environment()
        with pytest.raises(UnsupportedFlinkFeature, match="PulsarSource is not yet"):
            env.from_source(source_builder().build(), WatermarkStrategy.no_watermarks(), "p")


def test_positions():
    assert StartCursor.from_message_id(b"m", False)._position.inclusive is False
    assert StopCursor.at_message_id(b"m")._position == Position(PositionKind.MESSAGE, b"m", True)
    assert StopCursor.after_message_id(b"m")._position.inclusive is False
    assert StopCursor.after_event_time(1)._position == Position(PositionKind.EVENT_TIME, 1, False)
    assert StopCursor.at_event_time(1)._position.inclusive
    assert not StopCursor.after_publish_time(1)._position.inclusive
    assert StopCursor.latest()._position.kind is PositionKind.LATEST
    assert RangeGenerator.full()._range == KeyRange()


class TestSink:
    def test_keeps_what_it_was_told(self):
        builder = sink_builder().set_producer_name("p")
        builder.set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        builder.set_topic_routing_mode(TopicRoutingMode.MESSAGE_KEY_HASH)
        builder.delay_sending_message(MessageDelayer.fixed(Duration.of_seconds(12)))
        options = builder.set_config("k", "v").build()._options
        assert options.topics == ("a", "b")
        assert options.guarantee is DeliveryGuarantee.AT_LEAST_ONCE
        assert options.routing is TopicRoutingMode.MESSAGE_KEY_HASH
        assert options.delay == Duration.of_seconds(12)
        assert options.options["pulsar.producer.producerName"] == "p"
        assert options.options["k"] == "v"

    def test_java_classes_route_nothing(self):
        with pytest.raises(ValueError, match="set_topic_router"):
            sink_builder().set_topic_routing_mode(TopicRoutingMode.CUSTOM)
        with pytest.raises(UnsupportedFlinkFeature, match="Use set_topic_routing_mode"):
            sink_builder().set_topic_router("org.example.Router")

    def test_needs_a_serializer(self):
        with pytest.raises(ValueError, match="serializationSchema must be set"):
            PulsarSink.builder().set_service_url("pulsar://host:6650").build()
        old = PulsarSerializationSchema.flink_schema(SimpleStringSchema())
        built = sink_builder().set_serialization_schema(old).build()
        assert isinstance(built._options.serializer, SimpleStringSchema)

    def test_using_it_says_what_is_missing(self):
        env = StreamExecutionEnvironment.get_execution_environment()
        with pytest.raises(UnsupportedFlinkFeature, match="PulsarSink is not yet"):
            env.from_collection(["a"], Types.STRING()).sink_to(sink_builder().build())
