"""CSV messages of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from pyflink_on_spark._connectors.formats.csv_reader import csv_row_reader, csv_row_writer
from pyflink_on_spark._connectors.formats.csv_records import CsvRowFormat
from pyflink_on_spark.common import (
    DeserializationSchema,
    SerializationSchema,
    TypeInformation,
    Types,
)
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    ObjectArrayTypeInfo,
    RowTypeInfo,
)
from pyflink_on_spark.common.typeinfo.collections import element_type_of
from pyflink_on_spark.datastream.connectors._arguments import argument, require

_SIMPLE = [
    *(Types.STRING(), Types.BOOLEAN(), Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG()),
    *(Types.FLOAT(), Types.DOUBLE(), Types.BIG_INT(), Types.BIG_DEC(), Types.INSTANT()),
    *(Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()),
    Types.PRIMITIVE_ARRAY(Types.BYTE()),
]
_LINE_ENDS = ("\n", "\r", "\r\n", "")


class _CsvRowBuilder:
    """Has the settings of both directions."""

    def __init__(self, type_info: TypeInformation):
        self._format = CsvRowFormat(_checked_row_type(type_info))

    def set_array_element_delimiter(self, delimiter: str):
        """Set the text between the elements of arrays; by default a semicolon."""
        call = "set_array_element_delimiter(delimiter)"
        return self._with(array_delimiter=argument(delimiter, str, call))

    def set_quote_character(self, c: str):
        """Set the quote character; by default a double quote."""
        return self._with(quote=_character(c, "set_quote_character"))

    def set_escape_character(self, c: str):
        """Set the escape character; by default there is none."""
        return self._with(escape=_character(c, "set_escape_character"))

    def _with(self, **changes: Any) -> Self:
        self._format = replace(self._format, **changes)
        return self


class CsvRowDeserializationSchema(DeserializationSchema):
    """Deserializes rows from CSV messages; made with ``Builder(type_info)``.

    Args:
        j_deserialization_schema: made by the builder.

    Example::

        row_type = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
        schema = CsvRowDeserializationSchema.Builder(row_type).set_field_delimiter("|").build()
    """

    def __init__(self, j_deserialization_schema):
        call = "CsvRowDeserializationSchema(j_deserialization_schema)"
        self._format = own_handle(j_deserialization_schema, CsvRowFormat, call)
        super().__init__(j_deserialization_schema)

    def _deserializer(self) -> Callable[[bytes], Any]:
        return csv_row_reader(self._format)

    def _produced_type(self) -> TypeInformation:
        return self._format.row_type

    class Builder(_CsvRowBuilder):
        """Configures a schema.

        Args:
            type_info: the type of the rows. Fields have simple types, or are arrays or rows of
                simple types.

        Raises:
            TypeError: the type is None.
            ValueError: the type is not a row type, or CSV does not support a field.
        """

        def set_field_delimiter(self, delimiter: str):
            """Set the character between fields; by default a comma."""
            return self._with(field_delimiter=_character(delimiter, "set_field_delimiter"))

        def set_allow_comments(self, allow_comments: bool):
            """Set whether a line that begins with ``#`` is a comment."""
            call = "set_allow_comments(allow_comments)"
            return self._with(comments=argument(allow_comments, bool, call))

        def set_null_literal(self, null_literal: str):
            """Set the text for None."""
            call = "set_null_literal(null_literal)"
            return self._with(null=argument(null_literal, str, call))

        def set_ignore_parse_errors(self, ignore_parse_errors: bool):
            """Set whether corrupt data becomes None; by default it fails the job."""
            call = "set_ignore_parse_errors(ignore_parse_errors)"
            return self._with(ignore_errors=argument(ignore_parse_errors, bool, call))

        def build(self):
            """Return the schema."""
            return CsvRowDeserializationSchema(j_deserialization_schema=self._format)


class CsvRowSerializationSchema(SerializationSchema):
    """Serializes rows to CSV messages; made with ``Builder(type_info)``.

    Args:
        j_csv_row_serialization_schema: made by the builder.

    Example::

        row_type = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
        schema = CsvRowSerializationSchema.Builder(row_type).build()
    """

    def __init__(self, j_csv_row_serialization_schema):
        call = "CsvRowSerializationSchema(j_csv_row_serialization_schema)"
        self._format = own_handle(j_csv_row_serialization_schema, CsvRowFormat, call)
        super().__init__(j_csv_row_serialization_schema)

    def _serializer(self) -> Callable[[Any], bytes]:
        return csv_row_writer(self._format)

    class Builder(_CsvRowBuilder):
        """Configures a schema.

        Args:
            type_info: the type of the rows. Fields have simple types, or are arrays or rows of
                simple types.

        Raises:
            TypeError: the type is None.
            ValueError: the type is not a row type, or CSV does not support a field.
        """

        def set_field_delimiter(self, c: str):
            """Set the character between fields; by default a comma."""
            return self._with(field_delimiter=_character(c, "set_field_delimiter"))

        def set_line_delimiter(self, delimiter: str):
            r"""Set the line end; by default ``\n``.

            Raises:
                ValueError: the line end is not ``\n``, ``\r``, ``\r\n`` or the empty text.
            """
            require(
                delimiter in _LINE_ENDS,
                "Unsupported new line delimiter. Only \\n, \\r, \\r\\n, or empty string are "
                "supported.",
            )
            return self._with(line_delimiter=delimiter)

        def disable_quote_character(self):
            """Write no quotes."""
            return self._with(quote=None)

        def set_null_literal(self, s: str):
            """Set the text for None."""
            return self._with(null=argument(s, str, "set_null_literal(s)"))

        def build(self):
            """Return the schema."""
            return CsvRowSerializationSchema(j_csv_row_serialization_schema=self._format)


def _checked_row_type(type_info: Any) -> RowTypeInfo:
    if type_info is None:
        raise TypeError("Type information must not be None")
    if not isinstance(type_info, RowTypeInfo):
        raise ValueError("Row type information expected.")
    for name, field in zip(type_info.get_field_names(), type_info.get_field_types()):
        for nested in _second_level(field):
            require(
                nested in _SIMPLE,
                f"Only simple types are supported in the second level nesting of fields '{name}' "
                f"but was: {nested}",
            )
        require(
            field in _SIMPLE or _second_level(field),
            f"Unsupported type information '{field}' for field '{name}'.",
        )
    return type_info


def _second_level(field: TypeInformation) -> list[TypeInformation]:
    if isinstance(field, RowTypeInfo):
        return field.get_field_types()
    if isinstance(field, (BasicArrayTypeInfo, ObjectArrayTypeInfo)):
        return [element_type_of(field)]
    return []


def _character(text: Any, method: str) -> str:
    given = argument(text, str, f"{method}(c)")
    require(given, f"{method}(c) takes one character, not the empty text")
    return given[0]
