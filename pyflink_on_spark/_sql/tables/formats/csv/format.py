"""The format ``csv``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.formats.csv_blocks import CsvRecords
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, text
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.tables.formats.csv.reading import CsvDecoder
from pyflink_on_spark._sql.tables.formats.csv.writing import CsvEncoder
from pyflink_on_spark._sql.tables.formats.format import Decoder, Encoder, Format, check_has_text

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.input_format import InputFileFormat

_ESCAPES = {r"\t": "\t", r"\\": "\\"}


def _character(value: str) -> str:
    unescaped = _ESCAPES.get(value, value)
    if len(unescaped) != 1:
        raise ValueError("it has to be one character")
    return unescaped


_DELIMITER = Option("field-delimiter", _character, default=",")
_NO_QUOTES = Option("disable-quote-character", boolean, default=False)
_QUOTE = Option("quote-character", _character, default='"')
_COMMENTS = Option("allow-comments", boolean, default=False)
_IGNORE_ERRORS = Option("ignore-parse-errors", boolean, default=False)
_ARRAY_DELIMITER = Option("array-element-delimiter", text, default=";")
_ESCAPE = Option("escape-character", _character)
_NULL = Option("null-literal", text)


class CsvFormat(Format):
    """Lines with a field for each column."""

    identifier = "csv"
    options = (
        _DELIMITER,
        _NO_QUOTES,
        _QUOTE,
        _COMMENTS,
        _IGNORE_ERRORS,
        _ARRAY_DELIMITER,
        _ESCAPE,
        _NULL,
    )

    def decoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Decoder:
        """Return what reads rows."""
        check_has_text(schema)
        return CsvDecoder(schema, _dialect(options))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return what writes rows."""
        check_has_text(schema)
        return CsvEncoder(schema, _dialect(options))

    def file_messages(self, options: TableOptions) -> InputFileFormat:
        """Return what reads the records of files, which may have several lines."""
        dialect = _dialect(options)
        return CsvRecords(dialect.records, dialect.lenient)


def _dialect(options: TableOptions) -> CsvDialect:
    if options[_NO_QUOTES] and options.has(_QUOTE):
        raise ValidationError(
            "Format cannot define a quote character and disabled quote character at the same time."
        )
    return CsvDialect(
        delimiter=options[_DELIMITER],
        quote=None if options[_NO_QUOTES] else options[_QUOTE],
        escape=options[_ESCAPE],
        comments=bool(options[_COMMENTS]),
        lenient=bool(options[_IGNORE_ERRORS]),
        array_delimiter=options[_ARRAY_DELIMITER],
        null=options[_NULL],
    )
