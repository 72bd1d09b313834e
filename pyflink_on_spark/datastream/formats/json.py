"""JSON messages of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.formats.json_messages import (
    json_row_reader,
    json_row_writer,
    row_type_of_json_schema,
)
from pyflink_on_spark.common import DeserializationSchema, SerializationSchema, TypeInformation
from pyflink_on_spark.common.typeinfo import RowTypeInfo
from pyflink_on_spark.datastream.connectors._arguments import require

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


@dataclass(frozen=True)
class JsonRowFormat:
    """The form of a row as a JSON message.

    Attributes:
        row_type: the type of the row; the names of its fields are the keys of the object.
        fail_on_missing_field: whether a missing key fails the job; otherwise the field is None.
        ignore_errors: whether corrupt data becomes None; otherwise it fails the job.
    """

    row_type: RowTypeInfo
    fail_on_missing_field: bool = False
    ignore_errors: bool = False


class JsonRowDeserializationSchema(DeserializationSchema):
    """Deserializes rows from JSON messages; made with ``builder()``.

    Args:
        j_deserialization_schema: made by the builder.

    Example::

        row_type = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
        schema = JsonRowDeserializationSchema.builder().type_info(row_type).build()
    """

    def __init__(self, j_deserialization_schema):
        call = "JsonRowDeserializationSchema(j_deserialization_schema)"
        self._format = own_handle(j_deserialization_schema, JsonRowFormat, call)
        super().__init__(j_deserialization_schema)

    @staticmethod
    def builder():
        """Return a builder. The type is required."""
        return JsonRowDeserializationSchema.Builder()

    def _deserializer(self) -> Callable[[bytes], object]:
        options = self._format
        return json_row_reader(
            options.row_type, options.fail_on_missing_field, options.ignore_errors
        )

    def _produced_type(self) -> TypeInformation:
        return self._format.row_type

    class Builder:
        """Configures a schema."""

        def __init__(self):
            self._type_info: TypeInformation | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation):
            """Set the type of the rows; the names of the fields are the keys of the objects."""
            self._type_info = type_info
            return self

        def json_schema(self, json_schema: str):
            """Set the type of the rows by the JSON schema of an object.

            Numbers become decimals. Strings with the formats ``date``, ``time`` and ``date-time``
            become SQL's types, base64 becomes bytes, and an array with a list of items a row.

            Raises:
                TypeError: the schema is None, or a field can only be null.
                ValueError: the schema is malformed, or does not describe an object.
            """
            if json_schema is None:
                raise TypeError("The json_schema must not be None.")
            self._type_info = row_type_of_json_schema(json_schema)
            return self

        def fail_on_missing_field(self):
            """Fail the job if an object lacks a key; by default the field is None."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self):
            """Replace corrupt data by None; by default it fails the job."""
            self._ignore_parse_errors = True
            return self

        def build(self):
            """Return the schema.

            Raises:
                TypeError: the type is not set.
                ValueError: the type is not a row type, or both ways to handle errors are set.
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
    """Serializes rows to JSON messages; made with ``builder()``.

    Args:
        j_serialization_schema: made by the builder.

    Example::

        row_type = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
        schema = JsonRowSerializationSchema.builder().with_type_info(row_type).build()
    """

    def __init__(self, j_serialization_schema):
        call = "JsonRowSerializationSchema(j_serialization_schema)"
        self._format = own_handle(j_serialization_schema, JsonRowFormat, call)
        super().__init__(j_serialization_schema)

    @staticmethod
    def builder():
        """Return a builder. The type is required."""
        return JsonRowSerializationSchema.Builder()

    def _serializer(self) -> Callable[[Any], bytes]:
        return json_row_writer(self._format.row_type)

    class Builder:
        """Configures a schema."""

        def __init__(self):
            self._type_info: TypeInformation | None = None

        def with_type_info(self, type_info: TypeInformation):
            """Set the type of the rows; the names of the fields are the keys of the objects."""
            self._type_info = type_info
            return self

        def build(self):
            """Return the schema.

            Raises:
                TypeError: the type is not set.
                ValueError: the type is not a row type.
            """
            return JsonRowSerializationSchema(JsonRowFormat(_row_type(self._type_info)))


def _row_type(type_info: TypeInformation | None) -> RowTypeInfo:
    if type_info is None:
        raise TypeError("Typeinfo should be set.")
    if not isinstance(type_info, RowTypeInfo):
        raise ValueError("Only RowTypeInfo is supported")
    return type_info


__getattr__ = missing_name(__name__)
