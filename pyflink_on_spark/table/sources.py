"""Sources of tables as PyFlink has them until 1.20."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table.schema import Schema

__all__ = ["CsvTableSource", "TableSource"]


class TableSource:
    """Something that a table can be read from.

    Args:
        j_table_source: the columns, and the options of the table; use ``CsvTableSource``.
    """

    def __init__(self, j_table_source):
        self._described: tuple[Schema, dict[str, str]] = j_table_source


class CsvTableSource(TableSource):
    """Files of CSV.

    Args:
        source_path: a file or a folder.
        field_names: the names of the columns.
        field_types: their types.
        field_delim: stands between fields; a comma if not given.
        line_delim: ends a line; a line feed if not given.
        quote_character: stands around texts, or None.
        ignore_first_line: whether the first line of each file is left out.
        ignore_comments: what the lines begin with that are left out.
        lenient: whether a field that cannot be read is NULL, and a line left out that is too short.
        empty_column_as_null: whether an empty text is NULL.

    Raises:
        ValueError: the quote has several characters.
    """

    def __init__(
        self,
        source_path,
        field_names,
        field_types,
        field_delim=None,
        line_delim=None,
        quote_character=None,
        ignore_first_line=None,
        ignore_comments=None,
        lenient=None,
        empty_column_as_null=None,
    ):
        if quote_character is not None and len(quote_character) != 1:
            raise ValueError(f"Expected a single CSV quote character but got '{quote_character}'")
        options = {
            "connector.type": "filesystem",
            "connector.path": source_path,
            "format.type": "csv",
            "format.field-delimiter": field_delim,
            "format.line-delimiter": line_delim,
            "format.quote-character": quote_character,
            "format.ignore-first-line": _flag(ignore_first_line),
            "format.comment-prefix": ignore_comments,
            "format.ignore-parse-errors": _flag(lenient),
            "format.empty-column-as-null": _flag(empty_column_as_null),
        }
        super().__init__(described(field_names, field_types, options))


def described(
    names: list[str], types: list[DataType], options: dict[str, Any]
) -> tuple[Schema, dict[str, str]]:
    """Return the columns and the options of a table, without those that are None."""
    schema = Schema.new_builder().from_fields(list(names), list(types)).build()
    return schema, {key: value for key, value in options.items() if value is not None}


def _flag(given: object) -> str | None:
    return "true" if given else None


__getattr__ = missing_name(__name__)
