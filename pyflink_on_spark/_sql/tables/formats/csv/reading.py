"""Reads CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from pyflink_on_spark._connectors.formats import java_parsing
from pyflink_on_spark._connectors.formats.csv_records import first_record, message_text
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.csv.columns import column_rows
from pyflink_on_spark._sql.tables.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.tables.formats.csv.fields import Read, field_reader, not_null_reader
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType


class CsvDecoder(Decoder):
    """Reads a row of each record: of a file, or the first of a message.

    Args:
        schema: the columns of records.
        dialect: how the records are written.
        kept: the positions of the columns that rows have; None for all.
    """

    def __init__(
        self, schema: Schema, dialect: CsvDialect, kept: tuple[int, ...] | None = None
    ) -> None:
        self._schema, self._dialect = schema, dialect
        self._kept = tuple(range(len(schema))) if kept is None else kept

    def projected(self, columns: tuple[int, ...]) -> CsvDecoder:
        """Return what reads rows with some columns only."""
        return CsvDecoder(self._schema, self._dialect, columns)

    def load(self) -> Decode:
        """Return what reads rows."""
        at_once = column_rows(self._schema.types, self._kept, self._dialect)
        one_by_one = self._one_by_one()

        def parts(elements: Iterator[Any]) -> Iterator[Iterator[Any]]:
            while part := list(islice(elements, BUNDLE_SIZE)):
                try:
                    rows = at_once(part)
                except (ValueError, TypeError):  # there are different elements, or unusual ones
                    rows = one_by_one(iter(part))
                yield rows

        return lambda elements: chain.from_iterable(parts(elements))

    def _one_by_one(self) -> Decode:
        dialect, schema, kept = self._dialect, self._schema, self._kept
        readers = [(index, field_reader(schema.types[index], dialect)) for index in kept]

        def again(record: list[Any]) -> tuple[Any, ...] | None:
            """Return the row of a record that is not as it should be; None to skip it."""
            if not record:
                return None
            if len(record) != len(schema):
                fitted = _fitted(record, len(schema), dialect)
                if fitted is None:
                    return None
                record = fitted
            return _row_by_field(schema.names, readers, record, dialect)

        rows, records = _compiled(schema, kept, dialect).load().function, _Records(dialect)
        return lambda elements: rows(records(elements), again)


def _compiled(schema: Schema, kept: Sequence[int], dialect: CsvDialect) -> Program:
    """Return a generator function over records, which reads all fields of one at once."""
    bindings: dict[str, Any] = {"null": dialect.null}
    sources = []
    for index in kept:
        field = f"f{index}"
        source = f"({_source(schema.types[index], index, dialect, bindings)})"
        sources.append(source if dialect.null is None else f"None if {field} == null else {source}")
    fields = "".join(f"f{index}, " for index in range(len(schema)))
    lines = [
        "def rows(records, again):",
        "    for record in records:",
        "        try:",
        f"            {fields}= record",
        f"            row = ({''.join(f'{source}, ' for source in sources)})",
        "        except ValueError:",
        "            row = again(record)",
        "            if row is None: continue",
        "        yield row",
    ]
    return Program("\n".join(lines) + "\n", "rows", bindings, own=True)


def _source(kind: LogicalType, index: int, dialect: CsvDialect, bindings: dict[str, Any]) -> str:
    """Return Python source that reads a field that is not NULL."""
    field = f"f{index}"
    if kind.root in logical.CHARACTERS:
        return field
    bindings[f"r{index}"] = not_null_reader(kind, dialect)
    return f"r{index}({field})"


class _Records:
    """Yields the fields of records of files, and of messages.

    Args:
        dialect: how they are written.
    """

    def __init__(self, dialect: CsvDialect) -> None:
        self._dialect, self._form = dialect, dialect.records
        self._first = first_record(self._form)

    def __call__(self, elements: Iterator[Any]) -> Iterator[list[str]]:
        while part := list(islice(elements, BUNDLE_SIZE)):
            records = _one_each(part, self._dialect) if type(part[0]) is bytes else None
            yield from map(self._record, part) if records is None else records

    def _record(self, element: Any) -> list[str]:
        """Return the fields of an element; no fields of one that is left out."""
        if type(element) is list:
            return element
        if type(element) is str and self._form.is_plain(element):
            return element.split(self._dialect.delimiter)
        return [] if element is None else self._of_message(element)

    def _of_message(self, message: Any) -> list[str]:
        try:
            text = message if type(message) is str else message_text(message)
            record = self._first(text)
            if record is None:
                raise ValueError("there is no record")
        except ValueError as error:
            if self._dialect.lenient:
                return []
            shown = message if type(message) is str else message.decode(errors="replace")
            raise ValueError(f"Failed to deserialize CSV row '{shown}': {error}") from None
        return record


def _one_each(messages: list[Any], dialect: CsvDialect) -> list[list[str]] | None:
    """Return the records of messages; None if a message is not just one line with a record."""
    form = dialect.records
    if form.comments or form.escape is not None:
        return None
    try:
        texts = b"\n".join(messages).decode().split("\n")
        if len(texts) != len(messages) or not all(messages):
            return None
        if any("\r" in text or "\ufeff" in text for text in texts):
            return None
        records = list(csv.reader(texts, **form.arguments()))
    except (csv.Error, UnicodeDecodeError, TypeError):
        return None
    return records if len(records) == len(texts) else None


def _fitted(record: list[str], width: int, dialect: CsvDialect) -> list[Any] | None:
    """Return a record with a field for each column; None to skip the record.

    A delimiter may end a record. A lenient table has NULL for fields that are missing.
    """
    if len(record) == width + 1 and not java_parsing.trimmed(record[-1]):
        return record[:width]
    if dialect.lenient:
        return None if len(record) > width else record + [None] * (width - len(record))
    text = dialect.delimiter.join(record)
    if len(record) > width:
        raise ValueError(
            f"Failed to deserialize CSV row '{text}': Too many entries: expected at most {width} "
            f'(value #{width} ({len(record[width])} chars) "{record[width]}")'
        )
    raise ValueError(
        f"Failed to deserialize CSV row '{text}': Row length mismatch. "
        f"{width} fields expected but was {len(record)}"
    )


def _row_by_field(
    names: tuple[str, ...],
    readers: list[tuple[int, Read]],
    record: list[str],
    dialect: CsvDialect,
) -> tuple[Any, ...]:
    row: list[Any] = []
    for index, read in readers:
        try:
            row.append(read(record[index]))
        except ValueError as error:
            if not dialect.lenient:
                text = dialect.delimiter.join(record)
                raise ValueError(
                    f"Failed to deserialize CSV row '{text}': column '{names[index]}': {error}"
                ) from None
            row.append(None)
    return tuple(row)
