"""The serialization of an element as a record of a topic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._connectors.kafka.records import RecordFormat
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common import Row, SerializationSchema, Types
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import StreamTransformer


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
