"""Wrappers of schemas that scripts for PyFlink 1.14 to 1.17 give Pulsar's builders."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark.common import DeserializationSchema, SerializationSchema, TypeInformation
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream._java_gaps import without_java_object
from pyflink_on_spark.datastream.connectors._arguments import argument


class PulsarDeserializationSchema:
    """Makes elements of messages; made with ``flink_schema`` (removed in 1.18).

    Args:
        _j_pulsar_deserialization_schema: the schema for the messages' values.
    """

    def __init__(self, _j_pulsar_deserialization_schema):
        call = "PulsarDeserializationSchema(_j_pulsar_deserialization_schema)"
        self._schema = own_handle(_j_pulsar_deserialization_schema, DeserializationSchema, call)

    @staticmethod
    def flink_schema(deserialization_schema: DeserializationSchema) -> PulsarDeserializationSchema:
        """Make elements of the messages' values."""
        return PulsarDeserializationSchema(deserialization_schema)

    @staticmethod
    @without_java_object("Use flink_schema with a DeserializationSchema.")
    def flink_type_info(type_information: TypeInformation, execution_config: Any = None):
        """Make elements of what Flink's own serializers wrote."""


class PulsarSerializationSchema:
    """Makes messages of elements; made with ``flink_schema`` (removed in 1.18).

    Args:
        _j_pulsar_serialization_schema: the schema for the messages' values.
    """

    def __init__(self, _j_pulsar_serialization_schema):
        call = "PulsarSerializationSchema(_j_pulsar_serialization_schema)"
        self._schema = own_handle(_j_pulsar_serialization_schema, SerializationSchema, call)

    @staticmethod
    def flink_schema(serialization_schema: SerializationSchema) -> PulsarSerializationSchema:
        """Make the messages' values of elements."""
        return PulsarSerializationSchema(serialization_schema)


def deserializer_of(schema: Any, call: str) -> DeserializationSchema:
    """Return a schema, or what its wrapper holds."""
    if isinstance(schema, PulsarDeserializationSchema):
        return schema._schema
    return argument(schema, DeserializationSchema, call)


def serializer_of(schema: Any, call: str) -> SerializationSchema:
    """Return a schema, or what its wrapper holds."""
    if isinstance(schema, PulsarSerializationSchema):
        return schema._schema
    return argument(schema, SerializationSchema, call)
