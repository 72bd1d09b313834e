"""How an element becomes a record of a topic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._connectors.kafka.records import RecordRule
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common import Row, SerializationSchema, Types
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import StreamTransformer


class KafkaTopicSelector(ABC):
    """Chooses the topic for each element."""

    @abstractmethod
    def apply(self, data) -> str:
        """Return the name of the topic that an element is written to."""


@dataclass(frozen=True)
class RecordFormat:
    """How records are made.

    Attributes:
        topic: where all go; None: each element comes as a row of its topic and itself.
        key: what makes the records' keys; None: they have none.
        value: what makes the records' values.
    """

    topic: str | None
    key: SerializationSchema | None
    value: SerializationSchema

    def _rule(self) -> RecordRule:
        """Return the same for the runtime."""
        key = None if self.key is None else UserFunction.of(self.key)
        return RecordRule(self.topic, key, UserFunction.of(self.value))


class KafkaRecordSerializationSchema(SerializationSchema):
    """Makes Kafka records of elements; made with ``builder()``.

    Args:
        j_serialization_schema: how records are made.
        topic_selector: what chooses the topic, if it is not the same for all.
    """

    def __init__(self, j_serialization_schema, topic_selector: KafkaTopicSelector | None = None):
        super().__init__(j_serialization_schema)
        call = "KafkaRecordSerializationSchema(j_serialization_schema)"
        self._format = own_handle(j_serialization_schema, RecordFormat, call)
        self._topic_selector = topic_selector

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Begin with nothing; a topic and the values' format have to be set."""
        return KafkaRecordSerializationSchemaBuilder()

    def _preprocessing(self) -> StreamTransformer | None:
        """Return the step in front of the sink that chooses topics, or None."""
        return None if self._topic_selector is None else _SelectTopic(self._topic_selector)


class KafkaRecordSerializationSchemaBuilder:
    """Says how elements become Kafka records."""

    def __init__(self):
        self._topic: str | None = None
        self._topic_selector: KafkaTopicSelector | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None

    def build(self) -> KafkaRecordSerializationSchema:
        """Return the schema.

        Raises:
            ValueError: there is no topic, or no format for the values.
        """
        if self._value is None:
            raise ValueError("No value serializer is configured.")
        require(self._has_topic(), "No topic selector is configured.")
        records = RecordFormat(self._topic, self._key, self._value)
        return KafkaRecordSerializationSchema(records, self._topic_selector)

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        """Write all elements to one topic.

        Raises:
            ValueError: the topic is set already.
        """
        require(not self._has_topic(), "Topic selector already set.")
        self._topic = argument(topic, str, "set_topic(topic)")
        return self

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str] | KafkaTopicSelector
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Choose the topic for each element.

        Args:
            topic_selector: an object, or a function of the element.

        Raises:
            TypeError: it is neither.
            ValueError: the topic is set already.
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
        """Set what makes the records' keys of the elements.

        Raises:
            ValueError: it is set already.
        """
        call = "set_key_serialization_schema(key_serialization_schema)"
        require(self._key is None, "Key serializer already set.")
        self._key = argument(key_serialization_schema, SerializationSchema, call)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set what makes the records' values of the elements.

        Raises:
            ValueError: it is set already.
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
    """Puts each element into a row, behind the name of its topic."""

    def __init__(self, selector: KafkaTopicSelector) -> None:
        self._selector = selector

    def apply(self, ds: Any) -> Any:
        selector = self._selector
        rows = Types.ROW([Types.STRING(), ds.get_type()])
        return ds.map(lambda value: Row(selector.apply(value), value), output_type=rows)
