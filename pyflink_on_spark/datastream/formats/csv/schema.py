"""The columns of a CSV file, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._connectors.formats.csv_files import CsvFileForm
from pyflink_on_spark._connectors.formats.csv_records import CsvText
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.data_types import DataType, DataTypes, NumericType, RowField, RowType
from pyflink_on_spark.datastream.connectors._arguments import argument, require


@dataclass(frozen=True)
class CsvColumn:
    """A column.

    Attributes:
        name: its name.
        kind: ``STRING``, ``NUMBER``, ``BOOLEAN`` or ``ARRAY``.
        separator: what stands between the elements of an array; empty: nothing, it is one element.
    """

    name: str
    kind: str
    separator: str = ""


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is written.

    Attributes:
        columns: its columns, in order.
        column_separator: one character.
        array_separator: for arrays that say nothing else.
        quote: one character, or None: nothing is quoted.
        escape: one character, or None: nothing is escaped.
        line_separator: for writing; reading takes every line end.
        null: the text for None; None: nothing is read as None, and None is written as nothing.
        comments: whether lines that begin with ``#`` are left out.
        any_property: the name of the column for what has none, or None.
        skip_first_row: whether the first row of data is left out.
        strict_header: whether the header has to have the columns' names in their order.
        header: whether there is one.
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
    """The columns of a CSV file, and how they are written; made with ``builder()``.

    Args:
        j_schema: how the file is written.
        row_type: the columns' types.
    """

    def __init__(self, j_schema, row_type: RowType):
        self._dialect = own_handle(j_schema, CsvDialect, "CsvSchema(j_schema, row_type)")
        self._row_type = row_type

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Begin with no column, commas, and double quotes."""
        return CsvSchemaBuilder()

    def _form(self) -> CsvFileForm:
        """Return what the runtime has to know."""
        given = self._dialect
        return CsvFileForm(
            self._row_type,
            tuple(column.separator or given.array_separator for column in given.columns),
            CsvText(given.column_separator, given.quote, given.escape, given.comments),
            given.line_separator,
            given.null,
            given.header,
            given.strict_header,
            given.skip_first_row,
            given.any_property is not None,
        )

    def size(self):
        """Return the number of columns."""
        return len(self._dialect.columns)

    def __len__(self):
        return self.size()

    def __str__(self):
        return str(self._dialect)

    def __repr__(self):
        return str(self)


class CsvSchemaBuilder:
    """Says which columns a CSV file has, and how they are written."""

    def __init__(self):
        self._dialect = CsvDialect()
        self._fields: list[RowField] = []

    def build(self) -> CsvSchema:
        """Return the schema."""
        return CsvSchema(self._dialect, DataTypes.ROW(self._fields))

    def add_array_column(
        self, name: str, separator: str = ";", element_type: DataType | None = None
    ) -> CsvSchemaBuilder:
        """Add a column of lists.

        Args:
            name: the column's name.
            separator: what stands between the elements.
            element_type: the elements' type; STRING when left out.
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
            name: the column's name.
            number_type: the numbers' type; BIGINT when left out.
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
        return self._with(columns=self._dialect.columns + other._dialect.columns)

    def clear_columns(self):
        """Drop all columns."""
        self._fields.clear()
        return self._with(columns=())

    def set_allow_comments(self, allow: bool = True):
        """Set whether lines that begin with ``#`` are left out."""
        return self._with(comments=argument(allow, bool, "set_allow_comments(allow)"))

    def set_any_property_name(self, name: str):
        """Set a name for the values behind the last column."""
        return self._with(any_property=argument(name, str, "set_any_property_name(name)"))

    def disable_array_element_separator(self):
        """Put nothing between the elements of arrays."""
        return self._with(array_separator="")

    def remove_array_element_separator(self, index: int):
        """Put nothing between the elements of one column's arrays.

        Args:
            index: the column, from 0.

        Raises:
            ValueError: there is no such column.
        """
        columns = list(self._dialect.columns)
        at = argument(index, int, "remove_array_element_separator(index)")
        require(0 <= at < len(columns), f"Illegal index {at}; only got {len(columns)} columns")
        columns[at] = replace(columns[at], separator="")
        return self._with(columns=tuple(columns))

    def set_array_element_separator(self, separator: str):
        """Set what stands between the elements of arrays."""
        call = "set_array_element_separator(separator)"
        return self._with(array_separator=argument(separator, str, call))

    def set_column_separator(self, char: str):
        """Set the character between columns; a comma without this.

        Raises:
            ValueError: it is more or less than one character.
        """
        return self._with(column_separator=_one_character(char, "Column separator"))

    def disable_escape_char(self):
        """Escape nothing; the default."""
        return self._with(escape=None)

    def set_escape_char(self, char: str):
        """Set the character in front of characters that mean themselves.

        Raises:
            ValueError: it is more or less than one character.
        """
        return self._with(escape=_one_character(char, "Escape char"))

    def set_line_separator(self, separator: str):
        r"""Set the line end for writing; ``\n`` without this. Reading takes every line end."""
        call = "set_line_separator(separator)"
        return self._with(line_separator=argument(separator, str, call))

    def set_null_value(self, null_value: str):
        """Set the text for None; the empty text without this."""
        text = "" if null_value is None else null_value
        return self._with(null=argument(text, str, "set_null_value(null_value)"))

    def disable_quote_char(self):
        """Quote nothing."""
        return self._with(quote=None)

    def set_quote_char(self, char: str):
        """Set the character around texts; a double quote without this.

        Raises:
            ValueError: it is more or less than one character.
        """
        return self._with(quote=_one_character(char, "Quote char"))

    def set_skip_first_data_row(self, skip: bool = True):
        """Set whether the first row of data is left out."""
        return self._with(skip_first_row=argument(skip, bool, "set_skip_first_data_row(skip)"))

    def set_strict_headers(self, strict: bool = True):
        """Set whether the header has to have the columns' names in their order."""
        return self._with(strict_header=argument(strict, bool, "set_strict_headers(strict)"))

    def set_use_header(self, use: bool = True):
        """Set whether there is a header."""
        return self._with(header=argument(use, bool, "set_use_header(use)"))

    def size(self):
        """Return the number of columns so far."""
        return len(self._fields)

    def __len__(self):
        return self.size()

    def _add(
        self, name: str, kind: str, data_type: DataType, separator: str = ""
    ) -> CsvSchemaBuilder:
        self._fields.append(DataTypes.FIELD(name, data_type))
        return self._with(columns=(*self._dialect.columns, CsvColumn(name, kind, separator)))

    def _with(self, **changes: Any) -> CsvSchemaBuilder:
        self._dialect = replace(self._dialect, **changes)
        return self


def _one_character(text: str, what: str) -> str:
    if len(text) != 1:
        raise ValueError(f"{what} must be a single char, got {text}")
    return text


def _java(value: bool) -> str:
    return "true" if value else "false"
