"""Writes CSV."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._connectors.formats.csv_text import quoting
from pyflink_on_spark._runtime.types.java_numbers import double_text, float_text
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.tables.formats.format import Encode, Encoder
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import date_text
from pyflink_on_spark._sql.types.text import moment_text, number_text

Write = Callable[[Any], str]


class CsvEncoder(Encoder):
    """Writes a line for each row.

    Args:
        schema: the columns.
        dialect: how the lines are written.
    """

    def __init__(self, schema: Schema, dialect: CsvDialect) -> None:
        self._schema, self._dialect = schema, dialect

    def load(self) -> Encode:
        """Return what writes rows."""
        writers = [_field_writer(kind, self._dialect) for kind in self._schema.types]
        delimiter = self._dialect.delimiter

        def encode(rows: Iterator[Any]) -> Iterator[Any]:
            for row in rows:
                yield delimiter.join([write(value) for write, value in zip(writers, row)])

        return encode


def _field_writer(kind: LogicalType, dialect: CsvDialect) -> Write:
    write = _writer(kind, dialect)
    null = dialect.null or ""
    if kind.root in {*logical.INTEGERS, *logical.APPROXIMATE, Root.DECIMAL, Root.BOOLEAN}:
        return lambda value: null if value is None else write(value)
    quoted = quoting(dialect.delimiter, dialect.quote, dialect.escape)
    return lambda value: null if value is None else quoted(write(value))


def _writer(kind: LogicalType, dialect: CsvDialect) -> Write:
    root = kind.root
    simple = _SIMPLE.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        return number_text(kind.scale or 0)
    if root in {Root.TIME, *logical.TIMESTAMPS}:
        return moment_text(kind)
    inner = [_element_writer(child, dialect) for child in kind.children]
    separator = dialect.array_delimiter
    if root is Root.ARRAY:
        return lambda value: separator.join(map(inner[0], value))
    if root is Root.ROW:
        return lambda value: separator.join([write(v) for write, v in zip(inner, value)])
    raise ValueError(f"CSV has no {kind}")


def _element_writer(kind: LogicalType, dialect: CsvDialect) -> Write:
    write, null = _writer(kind, dialect), dialect.null or ""
    return lambda value: null if value is None else write(value)


_SIMPLE: dict[Root, Write] = {
    Root.BOOLEAN: lambda value: "true" if value else "false",
    **dict.fromkeys(logical.INTEGERS, str),
    Root.FLOAT: float_text,
    Root.DOUBLE: double_text,
    **dict.fromkeys(logical.CHARACTERS, str),
    **dict.fromkeys(logical.BYTES_LIKE, lambda value: base64.b64encode(value).decode()),
    Root.DATE: date_text,
}
