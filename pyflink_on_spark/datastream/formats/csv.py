"""CSV files and CSV messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.formats.csv_files import (
    CsvFileInput,
    CsvFileOutput,
    CsvFileSettings,
)
from pyflink_on_spark._connectors.formats.csv_messages import csv_row_reader, csv_row_writer
from pyflink_on_spark._connectors.formats.csv_records import CsvDialect, CsvRowFormat
from pyflink_on_spark.common import (
    DeserializationSchema,
    SerializationSchema,
    TypeInformation,
    Types,
)
from pyflink_on_spark.common.data_types import DataType, DataTypes, NumericType, RowField, RowType
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    ObjectArrayTypeInfo,
    RowTypeInfo,
    element_type_of,
)
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.file_system import StreamFormat

__all__ = [
    "CsvSchema",
    "CsvSchemaBuilder",
    "CsvReaderFormat",
    "CsvBulkWriters",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
]
_SIMPLE = [
    *(Types.STRING(), Types.BOOLEAN(), Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG()),
    *(Types.FLOAT(), Types.DOUBLE(), Types.BIG_INT(), Types.BIG_DEC(), Types.INSTANT()),
    *(Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()),
    Types.PRIMITIVE_ARRAY(Types.BYTE()),
]
_LINE_ENDS = ("\n", "\r", "\r\n", "")


@dataclass(frozen=True)
class CsvColumn:
    """A column.

    Attributes:
        name: the name of the column.
        kind: ``STRING``, ``NUMBER``, ``BOOLEAN`` or ``ARRAY``.
        separator: the separator of array elements; without one an array has a single element.
    """

    name: str
    kind: str
    separator: str = ""


@dataclass(frozen=True)
class CsvSchemaSettings:
    """The settings of a CSV schema.

    Attributes:
        columns: the columns in order.
        column_separator: the character between columns.
        array_separator: the separator of array elements, where a column has none of its own.
        quote: the quote character, or None for no quotes.
        escape: the escape character, or None for no escapes.
        line_separator: the line end for writing; reading accepts every line end.
        null: the text for None. None: no text is read as None, and None is written as no text.
        comments: whether lines that begin with ``#`` are comments.
        any_property: the name of the column for additional values, or None.
        skip_first_row: whether the first row of data is skipped.
        strict_header: whether the header must have the names of the columns in their order.
        header: whether the file has a header.
    """

    columns: tuple[CsvColumn, ...] = ()
    column_separator: str = ","
    array_separator: str = ";"
    quote: str | None = '"'
    escape: str | None = None
    line_separator: str = "\n"
    null: str | None = None
    comments: bool = False
    any_property: str | None = None
    skip_first_row: bool = False
    strict_header: bool = False
    header: bool = False

    def __str__(self) -> str:
        columns = ",".join(f'"{column.name}"/{column.kind}' for column in self.columns)
        others = "N/A" if self.any_property is None else f"as '{self.any_property}'"
        return (
            f"[CsvSchema: columns=[{columns}], header? {_java(self.header)}, "
            f"skipFirst? {_java(self.skip_first_row)}, comments? {_java(self.comments)}, "
            f"any-properties? {others}]"
        )


class CsvSchema:
    """The columns and the form of a CSV file; made with ``builder()``.

    Args:
        j_schema: made by the builder.
        row_type: the types of the columns.

    Example::

        schema = (
            CsvSchema.builder()
            .add_string_column("name")
            .add_number_column("age", number_type=DataTypes.INT())
            .set_use_header()
            .build()
        )
        source = FileSource.for_record_stream_format(
            CsvReaderFormat.for_schema(schema), "people.csv"
        ).build()
    """

    def __init__(self, j_schema, row_type: RowType):
        self._settings = own_handle(j_schema, CsvSchemaSettings, "CsvSchema(j_schema, row_type)")
        self._row_type = row_type

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Return a builder without columns, with commas and double quotes."""
        return CsvSchemaBuilder()

    def _file_settings(self) -> CsvFileSettings:
        """Return the settings of the runtime."""
        given = self._settings
        return CsvFileSettings(
            self._row_type,
            tuple(column.separator or given.array_separator for column in given.columns),
            CsvDialect(given.column_separator, given.quote, given.escape, given.comments),
            given.line_separator,
            given.null,
            given.header,
            given.strict_header,
            given.skip_first_row,
            given.any_property is not None,
        )

    def size(self):
        """Return the number of columns."""
        return len(self._settings.columns)

    def __len__(self):
        return self.size()

    def __str__(self):
        return str(self._settings)

    def __repr__(self):
        return str(self)


class CsvSchemaBuilder:
    """Configures the columns and the form of a CSV file."""

    def __init__(self):
        self._settings = CsvSchemaSettings()
        self._fields: list[RowField] = []

    def build(self) -> CsvSchema:
        """Return the schema."""
        return CsvSchema(self._settings, DataTypes.ROW(self._fields))

    def add_array_column(
        self, name: str, separator: str = ";", element_type: DataType | None = None
    ) -> CsvSchemaBuilder:
        """Add a column of lists.

        Args:
            name: the name of the column.
            separator: the text between the elements.
            element_type: the type of the elements; by default STRING.
        """
        elements = DataTypes.STRING() if element_type is None else element_type
        between = argument(separator, str, "add_array_column(name, separator)")
        return self._add(name, "ARRAY", DataTypes.ARRAY(elements), between)

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of booleans."""
        return self._add(name, "BOOLEAN", DataTypes.BOOLEAN())

    def add_number_column(
        self, name: str, number_type: NumericType | None = None
    ) -> CsvSchemaBuilder:
        """Add a column of numbers.

        Args:
            name: the name of the column.
            number_type: the type of the numbers; by default BIGINT.
        """
        numbers = DataTypes.BIGINT() if number_type is None else number_type
        return self._add(name, "NUMBER", numbers)

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of texts."""
        return self._add(name, "STRING", DataTypes.STRING())

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """Add all columns of another schema."""
        other = argument(schema, CsvSchema, "add_columns_from(schema)")
        self._fields.extend(other._row_type)
        return self._with(columns=self._settings.columns + other._settings.columns)

    def clear_columns(self):
        """Remove all columns."""
        self._fields.clear()
        return self._with(columns=())

    def set_allow_comments(self, allow: bool = True):
        """Set whether lines that begin with ``#`` are comments."""
        return self._with(comments=argument(allow, bool, "set_allow_comments(allow)"))

    def set_any_property_name(self, name: str):
        """Set a name for values after the last column."""
        return self._with(any_property=argument(name, str, "set_any_property_name(name)"))

    def disable_array_element_separator(self):
        """Use no separator between the elements of arrays."""
        return self._with(array_separator="")

    def remove_array_element_separator(self, index: int):
        """Remove the separator of one column's array elements.

        Args:
            index: the index of the column, from 0.

        Raises:
            ValueError: there is no such column.
        """
        columns = list(self._settings.columns)
        at = argument(index, int, "remove_array_element_separator(index)")
        require(0 <= at < len(columns), f"Illegal index {at}; only got {len(columns)} columns")
        columns[at] = replace(columns[at], separator="")
        return self._with(columns=tuple(columns))

    def set_array_element_separator(self, separator: str):
        """Set the text between the elements of arrays."""
        call = "set_array_element_separator(separator)"
        return self._with(array_separator=argument(separator, str, call))

    def set_column_separator(self, char: str):
        """Set the character between columns; by default a comma.

        Raises:
            ValueError: the argument is not a single character.
        """
        return self._with(column_separator=_one_character(char, "Column separator"))

    def disable_escape_char(self):
        """Use no escape character; the default."""
        return self._with(escape=None)

    def set_escape_char(self, char: str):
        """Set the escape character.

        Raises:
            ValueError: the argument is not a single character.
        """
        return self._with(escape=_one_character(char, "Escape char"))

    def set_line_separator(self, separator: str):
        r"""Set the line end for writing, by default ``\n``; reading accepts every line end."""
        call = "set_line_separator(separator)"
        return self._with(line_separator=argument(separator, str, call))

    def set_null_value(self, null_value: str):
        """Set the text for None; by default the empty text."""
        text = "" if null_value is None else null_value
        return self._with(null=argument(text, str, "set_null_value(null_value)"))

    def disable_quote_char(self):
        """Use no quotes."""
        return self._with(quote=None)

    def set_quote_char(self, char: str):
        """Set the quote character; by default a double quote.

        Raises:
            ValueError: the argument is not a single character.
        """
        return self._with(quote=_one_character(char, "Quote char"))

    def set_skip_first_data_row(self, skip: bool = True):
        """Set whether the first row of data is skipped."""
        return self._with(skip_first_row=argument(skip, bool, "set_skip_first_data_row(skip)"))

    def set_strict_headers(self, strict: bool = True):
        """Set whether the header must have the names of the columns in their order."""
        return self._with(strict_header=argument(strict, bool, "set_strict_headers(strict)"))

    def set_use_header(self, use: bool = True):
        """Set whether the file has a header."""
        return self._with(header=argument(use, bool, "set_use_header(use)"))

    def size(self):
        """Return the number of columns."""
        return len(self._fields)

    def __len__(self):
        return self.size()

    def _add(
        self, name: str, kind: str, data_type: DataType, separator: str = ""
    ) -> CsvSchemaBuilder:
        self._fields.append(DataTypes.FIELD(name, data_type))
        return self._with(columns=(*self._settings.columns, CsvColumn(name, kind, separator)))

    def _with(self, **changes: object) -> CsvSchemaBuilder:
        self._settings = replace(self._settings, **changes)
        return self


def _one_character(text: str, what: str) -> str:
    if len(text) != 1:
        raise ValueError(f"{what} must be a single char, got {text}")
    return text


def _java(value: bool) -> str:
    return "true" if value else "false"


class CsvReaderFormat(StreamFormat):
    """Reads a row from each record of CSV files; made with ``for_schema``.

    Args:
        j_csv_format: the schema.
    """

    def __init__(self, j_csv_format):
        self._schema = own_handle(j_csv_format, CsvSchema, "CsvReaderFormat(j_csv_format)")
        super().__init__(CsvFileInput(self._schema._file_settings()))

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Read files with these columns."""
        return CsvReaderFormat(argument(schema, CsvSchema, "for_schema(schema)"))


class CsvBulkWriters:
    """Factories of writers of CSV files."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Write rows to files with these columns."""
        given = argument(schema, CsvSchema, "for_schema(schema)")
        return RowDataBulkWriterFactory(CsvFileOutput(given._file_settings()), given._row_type)


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

    def _deserializer(self) -> Callable[[bytes], object]:
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


def _checked_row_type(type_info: TypeInformation) -> RowTypeInfo:
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


def _character(text: object, method: str) -> str:
    given = argument(text, str, f"{method}(c)")
    require(given, f"{method}(c) takes one character, not the empty text")
    return given[0]


__getattr__ = missing_name(__name__)
