"""Writes JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.format import Encode, Encoder
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.json_text import Style, row_writer


class JsonEncoder(Encoder):
    """Writes an object for each row.

    Args:
        schema: the columns.
        iso: whether there is a T between date and time.
        ignore_nulls: whether fields that are NULL are left out.
    """

    def __init__(self, schema: Schema, iso: bool, ignore_nulls: bool) -> None:
        self._schema, self._style = schema, Style(iso, ignore_nulls)

    def load(self) -> Encode:
        """Return what writes rows."""
        kind = logical.row(self._schema.names, self._schema.types)
        write = row_writer(kind, self._style)

        def encode(rows: Iterator[Any]) -> Iterator[Any]:
            return map(write, rows)

        return encode
