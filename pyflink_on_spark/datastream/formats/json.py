"""Rows as JSON objects, for sources and sinks of messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.formats.json_reader import json_row_reader
from pyflink_on_spark._connectors.formats.json_schema import row_type_of_json_schema
from pyflink_on_spark._connectors.formats.json_writer import json_row_writer
from pyflink_on_spark.common import DeserializationSchema, SerializationSchema, TypeInformation
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.typeinfo import RowTypeInfo
from pyflink_on_spark.datastream.connectors._arguments import require

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


@dataclass(frozen=True)
class JsonRowFormat:
    """How rows and JSON objects stand for each other.

    Attributes:
        row_type: the fields; their names are the objects' keys.
        fail_on_missing_field: whether an object has to have all keys; None stands for a missing
            one otherwise.
        ignore_errors: whether None stands for what cannot be read; the job fails otherwise.
    """

    row_type: RowTypeInfo
    fail_on_missing_field: bool = False
    ignore_errors: bool = False


class JsonRowDeserializationSchema(DeserializationSchema):
    """Makes rows of JSON objects; made with ``builder()``.

    Args:
        j_deserialization_schema: how they stand for each other.
    """

    def __init__(self, j_deserialization_schema):
        call = "JsonRowDeserializationSchema(j_deserialization_schema)"
        self._format = own_handle(j_deserialization_schema, JsonRowFormat, call)
        super().__init__(j_deserialization_schema)

    @staticmethod
    def builder():
        """Begin without a type; it has to be set."""
        return JsonRowDeserializationSchema.Builder()

    def _deserializer(self) -> Callable[[bytes], Any]:
        options = self._format
        return json_row_reader(
            options.row_type, options.fail_on_missing_field, options.ignore_errors
        )

    def _produced_type(self) -> TypeInformation:
        return self._format.row_type

    class Builder:
        """Says how rows are read from JSON objects."""

        def __init__(self):
            self._type_info: TypeInformation | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation):
            """Set the rows' type; the names of the fields are the objects' keys."""
            self._type_info = type_info
            return self

        def json_schema(self, json_schema: str):
            """Set the rows' type with the text of a JSON schema of an object.

            Numbers are decimals; strings with the formats ``date``, ``time`` and ``date-time`` are
            SQL's; base64 is bytes; an array with a list of items is a row.

            Raises:
                TypeError: it is None, or a field can only be null.
                ValueError: it is no schema, or not one of rows.
            """
            if json_schema is None:
                raise TypeError("The json_schema must not be None.")
            self._type_info = row_type_of_json_schema(json_schema)
            return self

        def fail_on_missing_field(self):
            """Fail the job if an object lacks a key; its field is None without this."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self):
            """Put None in the place of what cannot be read; the job fails without this."""
            self._ignore_parse_errors = True
            return self

        def build(self):
            """Return the schema.

            Raises:
                TypeError: the type is not set.
                ValueError: it is not a row's, or both ways to meet errors are asked for.
            """
            row_type = _row_type(self._type_info)
            require(
                not (self._fail_on_missing_field and self._ignore_parse_errors),
                "JSON format doesn't support failOnMissingField and ignoreParseErrors are both "
                "true.",
            )
            return JsonRowDeserializationSchema(
                JsonRowFormat(row_type, self._fail_on_missing_field, self._ignore_parse_errors)
            )


class JsonRowSerializationSchema(SerializationSchema):
    """Makes JSON objects of rows; made with ``builder()``.

    Args:
        j_serialization_schema: how they stand for each other.
    """

    def __init__(self, j_serialization_schema):
        call = "JsonRowSerializationSchema(j_serialization_schema)"
        self._format = own_handle(j_serialization_schema, JsonRowFormat, call)
        super().__init__(j_serialization_schema)

    @staticmethod
    def builder():
        """Begin without a type; it has to be set."""
        return JsonRowSerializationSchema.Builder()

    def _serializer(self) -> Callable[[Any], bytes]:
        return json_row_writer(self._format.row_type)

    class Builder:
        """Says how rows are written as JSON objects."""

        def __init__(self):
            self._type_info: TypeInformation | None = None

        def with_type_info(self, type_info: TypeInformation):
            """Set the rows' type; the names of the fields are the objects' keys."""
            self._type_info = type_info
            return self

        def build(self):
            """Return the schema.

            Raises:
                TypeError: the type is not set.
                ValueError: it is not a row's.
            """
            return JsonRowSerializationSchema(JsonRowFormat(_row_type(self._type_info)))


def _row_type(type_info: TypeInformation | None) -> RowTypeInfo:
    if type_info is None:
        raise TypeError("Typeinfo should be set.")
    if not isinstance(type_info, RowTypeInfo):
        raise ValueError("Only RowTypeInfo is supported")
    return type_info


__getattr__ = missing_name(__name__)
