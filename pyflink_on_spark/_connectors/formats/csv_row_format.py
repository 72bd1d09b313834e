"""The form of a CSV message."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._connectors.formats.csv_records import CsvDialect
from pyflink_on_spark.common.typeinfo import RowTypeInfo


@dataclass(frozen=True)
class CsvRowFormat:
    r"""The form of a row as a CSV message.

    Attributes:
        row_type: the type of the row.
        field_delimiter: the character between fields.
        array_delimiter: the text between the elements of arrays and nested rows.
        quote: the character around texts, or None for no quotes.
        escape: the escape character, or None for no escapes.
        null: the text for None. None: no text is read as None, and None is written as no text.
        line_delimiter: the text after a written row: ``\n``, ``\r``, ``\r\n`` or nothing.
        comments: whether a message that begins with ``#`` is not a row.
        ignore_errors: whether a field or a message that cannot be read becomes None; otherwise the
            job fails.
    """

    row_type: RowTypeInfo
    field_delimiter: str = ","
    array_delimiter: str = ";"
    quote: str | None = '"'
    escape: str | None = None
    null: str | None = None
    line_delimiter: str = "\n"
    comments: bool = False
    ignore_errors: bool = False

    @property
    def dialect(self) -> CsvDialect:
        """How the fields are separated."""
        return CsvDialect(self.field_delimiter, self.quote, self.escape, self.comments)
