"""Reads CSV."""

from __future__ import annotations

import base64
import csv
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._sql.compiler.conversions import cut_micros, to_single
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.formats.csv.dialect import CsvDialect
from pyflink_on_spark._sql.formats.format import Decode, Decoder
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.decimals import parse_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import parse_date, parse_time, parse_timestamp

Read = Callable[[str], Any]


class CsvDecoder(Decoder):
    """Reads a row of each line.

    Args:
        schema: the columns.
        dialect: how the lines are written.
    """

    def __init__(self, schema: Schema, dialect: CsvDialect) -> None:
        self._schema, self._dialect = schema, dialect

    def load(self) -> Decode:
        """Return what reads rows."""
        dialect, schema = self._dialect, self._schema
        readers = [_reader(kind, dialect) for kind in schema.types]

        def again(record: list[Any]) -> tuple[Any, ...] | None:
            """Return the row of a record that is not as it should be; None to skip it."""
            if len(record) != len(schema):
                fitted = _fitted(record, len(schema), dialect)
                if fitted is None:
                    return None
                record = fitted
            return _row_by_field(schema.names, readers, record, dialect)

        rows = _compiled(schema, dialect).load().function
        return lambda lines: rows(_records(lines, dialect), again)


def _compiled(schema: Schema, dialect: CsvDialect) -> Program:
    """Return a generator function over records, which reads all fields of one at once."""
    bindings: dict[str, Any] = {"null": dialect.null}
    sources = []
    for index, kind in enumerate(schema.types):
        source, field = f"({_source(kind, index, dialect, bindings)})", f"f{index}"
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
    return Program("\n".join(lines) + "\n", "rows", bindings)


def _source(kind: LogicalType, index: int, dialect: CsvDialect, bindings: dict[str, Any]) -> str:
    """Return Python source that reads a field that is not NULL."""
    field = f"f{index}"
    if kind.root in logical.CHARACTERS:
        return field
    bits = _BITS.get(kind.root)
    if bits is not None:
        half = 1 << (bits - 1)
        bindings[f"r{index}"] = _integer(bits)
        return f"n if -{half} <= (n := int({field})) < {half} else r{index}({field})"
    if kind.root is Root.DOUBLE:
        return f"float({field})"
    bindings[f"r{index}"] = _not_null_reader(kind, dialect)
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
    if dialect.lenient:
        return (record + [None] * width)[:width]
    raise ValueError(
        f"Failed to deserialize CSV row '{dialect.delimiter.join(record)}': Row length mismatch. "
        f"{width} fields expected but was {len(record)}"
    )


def _row_by_field(
    names: tuple[str, ...], readers: list[Read], record: list[str], dialect: CsvDialect
) -> tuple[Any, ...]:
    row: list[Any] = []
    for name, read, field in zip(names, readers, record):
        try:
            row.append(read(field))
        except ValueError as error:
            if not dialect.lenient:
                text = dialect.delimiter.join(record)
                raise ValueError(
                    f"Failed to deserialize CSV row '{text}': column '{name}': {error}"
                ) from None
            row.append(None)
    return tuple(row)


def _reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    read, null = _not_null_reader(kind, dialect), dialect.null
    return lambda text: None if text is None or text == null else read(text)


def _not_null_reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    root = kind.root
    simple = _SIMPLE.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        precision, scale = kind.precision or 10, kind.scale or 0
        return lambda text: _number(parse_decimal(text, scale, precision), text)
    if root is Root.TIME:
        digits = kind.precision or 0
        return lambda text: cut_micros(_number(parse_time(text), text), digits)
    if root in logical.TIMESTAMPS:
        digits = kind.precision or 0
        return lambda text: cut_micros(
            _number(parse_timestamp(text.removesuffix("Z")), text), digits
        )
    inner = [_reader(child, dialect) for child in kind.children]
    separator = dialect.array_delimiter
    if root is Root.ARRAY:
        return lambda text: tuple(map(inner[0], text.split(separator))) if text else ()
    if root is Root.ROW:
        return lambda text: tuple([read(part) for read, part in zip(inner, text.split(separator))])
    raise ValueError(f"CSV has no {kind}")


def _number(value: int | None, text: str) -> int:
    if value is None:
        raise ValueError(f"{text!r} cannot be read")
    return value


def _integer(bits: int) -> Read:
    half = 1 << (bits - 1)

    def read(text: str) -> int:
        number = int(text)
        if not -half <= number < half:
            raise ValueError(f"{number} does not fit {bits} bits")
        return number

    return read


_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_SIMPLE: dict[Root, Read] = {
    Root.BOOLEAN: lambda text: text.strip().lower() == "true",
    Root.TINYINT: _integer(8),
    Root.SMALLINT: _integer(16),
    Root.INT: _integer(32),
    Root.BIGINT: _integer(64),
    Root.FLOAT: lambda text: to_single(float(text)),
    Root.DOUBLE: float,
    Root.CHAR: str,
    Root.VARCHAR: str,
    Root.BINARY: base64.b64decode,
    Root.VARBINARY: base64.b64decode,
    Root.DATE: lambda text: _number(parse_date(text), text),
}
