"""Reads CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.formats.csv.columns import column_rows
from pyflink_on_spark._sql.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.formats.csv.fields import BITS, Read, field_reader, not_null_reader
from pyflink_on_spark._sql.formats.format import Decode, Decoder
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root


class CsvDecoder(Decoder):
    """Reads a row of each line.

    Args:
        schema: the columns of lines.
        dialect: how the lines are written.
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

        def parts(lines: Iterator[Any]) -> Iterator[Iterator[Any]]:
            while part := list(islice(lines, BUNDLE_SIZE)):
                try:
                    rows = at_once(part)
                except ValueError:
                    # Text in quotes may end in a later part.
                    rows = one_by_one(chain(part, lines))
                yield rows

        return lambda lines: chain.from_iterable(parts(lines))

    def _one_by_one(self) -> Decode:
        dialect, schema, kept = self._dialect, self._schema, self._kept
        readers = [(index, field_reader(schema.types[index], dialect)) for index in kept]

        def again(record: list[Any]) -> tuple[Any, ...] | None:
            """Return the row of a record that is not as it should be; None to skip it."""
            if len(record) != len(schema):
                fitted = _fitted(record, len(schema), dialect)
                if fitted is None:
                    return None
                record = fitted
            return _row_by_field(schema.names, readers, record, dialect)

        rows = _compiled(schema, kept, dialect).load().function
        return lambda lines: rows(_records(lines, dialect), again)


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
    bits = BITS.get(kind.root)
    if bits is not None:
        half = 1 << (bits - 1)
        bindings[f"r{index}"] = not_null_reader(kind, dialect)
        return f"n if -{half} <= (n := int({field})) < {half} else r{index}({field})"
    if kind.root is Root.DOUBLE:
        return f"float({field})"
    bindings[f"r{index}"] = not_null_reader(kind, dialect)
    return f"r{index}({field})"


def _records(lines: Iterator[Any], dialect: CsvDialect) -> Iterator[Any]:
    """Yield the fields of the lines of files, which are texts, or of messages, which are bytes."""
    first = list(islice(lines, 1))
    read = _of_messages if first and type(first[0]) is bytes else _of_lines
    return read(chain(first, lines), dialect)


def _of_lines(lines: Iterator[str], dialect: CsvDialect) -> Iterator[list[str]]:
    if dialect.comments:
        lines = (line for line in lines if not line.startswith("#"))
    try:
        yield from filter(None, _parse(lines, dialect))
    except csv.Error as error:
        raise ValueError(f"Failed to deserialize CSV: {error}") from None


def _of_messages(messages: Iterator[bytes], dialect: CsvDialect) -> Iterator[list[str]]:
    """Yield the first record of each message; a message never extends into the next one."""
    while chunk := list(islice(messages, BUNDLE_SIZE)):
        records = _one_each(chunk, dialect)
        if records is None:
            yield from filter(None, (_first_record(message, dialect) for message in chunk))
        else:
            yield from filter(None, records)


def _one_each(messages: list[bytes], dialect: CsvDialect) -> list[list[str]] | None:
    """Return the records of messages; None if a message is not just one line with a record."""
    text = b"\n".join(messages).decode(errors="replace")
    texts = text.split("\n")
    if len(texts) != len(messages) or "\r" in text or "\ufffd" in text:
        return None
    if dialect.comments and "#" in text:
        return None
    try:
        records = list(_parse(iter(texts), dialect, strict=True))
    except csv.Error:
        return None
    return records if len(records) == len(texts) else None


def _first_record(message: bytes, dialect: CsvDialect) -> list[str] | None:
    try:
        text = message.decode()
        if dialect.comments and text.startswith("#"):
            return None
        return next(_parse(iter(text.splitlines(keepends=True)), dialect, strict=True), None)
    except (csv.Error, UnicodeDecodeError) as error:
        if dialect.lenient:
            return None
        shown = message.decode(errors="replace")
        raise ValueError(f"Failed to deserialize CSV row '{shown}': {error}") from None


def _parse(lines: Iterator[str], dialect: CsvDialect, strict: bool = False) -> Iterator[list[str]]:
    quoting: Any = csv.QUOTE_NONE if dialect.quote is None else csv.QUOTE_MINIMAL
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        escapechar=dialect.escape,
        quoting=quoting,
        strict=strict,
    )


def _fitted(record: list[str], width: int, dialect: CsvDialect) -> list[Any] | None:
    """Return a record with a field for each column; None to skip the record.

    A delimiter may end a line. A lenient table has NULL for fields that are missing.
    """
    if len(record) == width + 1 and not record[-1]:
        return record[:width]
    if dialect.lenient:
        return None if len(record) > width else record + [None] * (width - len(record))
    raise ValueError(
        f"Failed to deserialize CSV row '{dialect.delimiter.join(record)}': Row length mismatch. "
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
