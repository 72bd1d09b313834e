"""CSV: fields, whole columns, and the format."""

from __future__ import annotations

import base64
import csv
import datetime
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, repeat
from math import isfinite
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats import csv_records, java_parsing
from pyflink_on_spark._connectors.formats.csv_blocks import CsvRecords
from pyflink_on_spark._connectors.formats.csv_messages import sql_date
from pyflink_on_spark._connectors.formats.csv_records import first_record, message_text, quoting
from pyflink_on_spark._connectors.formats.file_format import null_if_corrupt
from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.types.codec import double_text, float_text
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, text
from pyflink_on_spark._sql.tables.formats.format import (
    BoundedCache,
    Decode,
    Decoder,
    Encode,
    Encoder,
    Format,
    check_has_text,
    usual_timestamps,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import parse_decimal
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    cut_micros,
    date_text,
    parse_cast_timestamp,
)
from pyflink_on_spark._sql.types.text import number_text, trimmed_time_text

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import InputFileFormat


@dataclass(frozen=True)
class CsvDialect:
    """The dialect of CSV that the options describe.

    Args:
        delimiter: stands between fields.
        quote: stands around texts, or None.
        escape: stands before what has no meaning of its own, or None.
        comments: whether lines that begin with # are left out.
        lenient: whether a field that cannot be read is NULL.
        array_delimiter: stands between the elements of an array.
        null: how NULL is written, or None for nothing at all.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    comments: bool = False
    lenient: bool = False
    array_delimiter: str = ";"
    null: str | None = None

    @property
    def records(self) -> csv_records.CsvDialect:
        """How records are divided into fields."""
        return csv_records.CsvDialect(self.delimiter, self.quote, self.escape, self.comments)


Read = Callable[[str], Any]

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{0,9})?", re.ASCII)


def field_reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    """Return the function that reads a field; a missing field (None) is NULL."""
    read, null = not_null_reader(kind, dialect), dialect.null
    if kind.root in {Root.ARRAY, Root.ROW}:  # the text for NULL is that of an element
        return lambda text: None if text is None else read(text)
    return lambda text: None if text is None or text == null else read(text)


def not_null_reader(kind: LogicalType, dialect: CsvDialect) -> Read:
    """Return the function that reads a field other than NULL; it raises ValueError for a bad one.

    A DECIMAL with too many digits, and a ROW of no text, are NULL all the same.
    """
    root = kind.root
    simple = _SIMPLE.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        return partial(_decimal, kind.precision or 10, kind.scale or 0)
    if root is Root.TIME:
        return partial(_time, kind.precision or 0)
    if root in logical.TIMESTAMPS:
        return partial(_moment, kind.precision or 0, root is Root.TIMESTAMP_LTZ)
    inner = [field_reader(child, dialect) for child in kind.children]
    if dialect.lenient:
        inner = list(map(null_if_corrupt, inner))
    separator, lenient = dialect.array_delimiter, dialect.lenient
    if root is Root.ARRAY:
        return lambda text: tuple(map(inner[0], text.split(separator))) if text else ()
    if root is Root.ROW:
        return lambda text: _row(inner, text.split(separator), lenient) if text else None
    raise ValueError(f"CSV has no {kind}")


def _row(inner: list[Read], parts: list[Any], lenient: bool) -> tuple[object, ...]:
    width, found = len(inner), len(parts)
    if found < width:
        if not lenient:
            raise ValueError(f"Row length mismatch. {width} fields expected but was {found}.")
        parts += [None] * (width - found)
    return tuple([read(part) for read, part in zip(inner, parts)])


def _decimal(precision: int, scale: int, text: str) -> int | None:
    java_parsing.decimal(text)
    return parse_decimal(text, scale, precision)


def _date(text: str) -> int:
    return sql_date(text).toordinal() - _EPOCH_DAY


def _time(digits: int, text: str) -> int:
    since_midnight, nanos = java_parsing.iso_time(text)
    micros = since_midnight // _MICROSECOND + nanos // 1000
    if micros >= MICROS_PER_DAY:
        raise ValueError(f"{text!r} is not a time of day")
    return cut_micros(micros, digits)


def _moment(digits: int, zone: bool, text: str) -> int:
    """Read a timestamp, which for a TIMESTAMP_LTZ has a Z at its end."""
    moment = java_parsing.trimmed(text)
    if moment.endswith("Z") is zone:
        moment = moment.removesuffix("Z")
        found = parse_cast_timestamp(moment) if _MOMENT.fullmatch(moment) else None
        if found is not None:
            return cut_micros(found, digits)
    example = "2020-01-31 12:34:56.789"
    raise ValueError(f"{text!r} is not a timestamp such as {example}{'Z' if zone else ''}")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_SIMPLE: dict[Root, Read] = {
    Root.BOOLEAN: lambda text: java_parsing.is_true(java_parsing.trimmed(text)),
    **{
        root: java_parsing.bounded_whole_number(bits) for root, bits in logical.INTEGER_BITS.items()
    },
    Root.FLOAT: java_parsing.single,
    Root.DOUBLE: java_parsing.double,
    Root.CHAR: str,
    Root.VARCHAR: str,
    Root.BINARY: _bytes,
    Root.VARBINARY: _bytes,
    Root.DATE: _date,
}


_NO_DECIMAL = re.compile(r"[^0-9eE.+-]")

Column = Callable[[list[str]], Sequence[Any]]


def column_rows(
    types: Sequence[LogicalType], kept: Sequence[int], dialect: CsvDialect
) -> Callable[[list[Any]], Iterator[tuple[object, ...]]]:
    """Return the conversion of many records at once: texts, bytes, or lists of fields.

    It raises ValueError or TypeError if one of them is not as most are. Then all are to be read one
    by one.

    Args:
        types: of all columns.
        kept: the positions of the columns that rows have.
        dialect: how the records are written.
    """
    width, delimiter = len(types), dialect.delimiter
    unusual = [
        "\r",
        "\ufeff",
        *filter(None, (dialect.quote, dialect.escape, "#" if dialect.comments else "")),
    ]
    columns = [(index, _column(types[index], dialect)) for index in kept]

    def rows(records: list[Any]) -> Iterator[tuple[object, ...]]:
        if type(records[0]) is list:
            return rows_of_fields(records)
        if type(records[0]) is bytes:
            records = _texts(records)
        text = delimiter.join(records)
        if any(each in text for each in unusual):
            raise ValueError("there are quotes")
        if set(map(str.count, records, repeat(delimiter))) != {width - 1}:
            raise ValueError("a record has too few fields, or too many")
        if not columns:
            return repeat((), len(records))
        fields = text.split(delimiter)
        return zip(*[read(fields[index::width]) for index, read in columns])

    def rows_of_fields(records: list[list[str]]) -> Iterator[tuple[object, ...]]:
        if set(map(len, records)) != {width}:
            raise ValueError("a record has too few fields, or too many")
        if not columns:
            return repeat((), len(records))
        fields = list(zip(*records))
        return zip(*[read(list(fields[index])) for index, read in columns])

    return rows


def _texts(messages: list[bytes]) -> list[str]:
    texts = b"\n".join(messages).decode().split("\n")
    if len(texts) != len(messages) or not all(messages):
        raise ValueError("a message has several lines, or none")
    return texts


def _column(kind: LogicalType, dialect: CsvDialect) -> Column:
    read, null = _not_null_column(kind, dialect), dialect.null
    if null is None:
        return read
    one = field_reader(kind, dialect)
    return lambda texts: [one(text) for text in texts] if null in texts else read(texts)


def _not_null_column(kind: LogicalType, dialect: CsvDialect) -> Column:
    if kind.root in logical.CHARACTERS:
        return lambda texts: texts
    bits = logical.INTEGER_BITS.get(kind.root)
    if bits is not None:
        return _integers(bits)
    if kind.root is Root.DOUBLE:
        return _doubles
    if kind.root is Root.FLOAT:
        return lambda texts: list(map(to_single, _doubles(texts)))
    if kind.root is Root.DECIMAL:
        return _decimals(kind.precision or 10, kind.scale or 0)
    if kind.root in logical.TIMESTAMPS:
        return usual_timestamps(kind.precision or 0, kind.root is Root.TIMESTAMP_LTZ)
    one = field_reader(kind, dialect)
    if kind.root is Root.BOOLEAN:
        return lambda texts: [each == "true" or (each != "false" and one(each)) for each in texts]
    if kind.root in {Root.DATE, Root.TIME}:
        return BoundedCache(one).all
    return lambda texts: list(map(one, texts))


def _check_digits(texts: list[str]) -> None:
    """Check that Python reads numbers of texts as Java does: no blanks beyond ASCII, no 1_0."""
    text = "".join(texts)
    if not text.isascii() or "_" in text:
        raise ValueError("there are other characters than in most numbers")


_STRUCT_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}


def _integers(bits: int) -> Column:
    code = _STRUCT_CODES[bits]

    def read(texts: list[str]) -> list[int]:
        _check_digits(texts)
        numbers = list(map(int, texts))
        try:  # a third of the cost of min and max
            struct.pack(f"{len(numbers)}{code}", *numbers)
        except struct.error as error:
            raise ValueError(f"a number does not fit {bits} bits") from error
        return numbers

    return read


def _doubles(texts: list[str]) -> list[float]:
    _check_digits(texts)
    numbers = list(map(float, texts))
    if not isfinite(sum(numbers)):
        raise ValueError("a number may be no number for Java")
    return numbers


def _decimals(precision: int, scale: int) -> Column:
    def read(texts: list[str]) -> list[Any]:
        if _NO_DECIMAL.search("".join(texts)):
            raise ValueError("there are other characters than in most numbers")
        numbers = [parse_decimal(text, scale, precision) for text in texts]
        if None in numbers:
            raise ValueError("there is no number, or one with too many digits")
        return numbers

    return read


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
        """Return a decoder that reads some columns only."""
        return CsvDecoder(self._schema, self._dialect, columns)

    def load(self) -> Decode:
        """Return the function that decodes messages."""
        at_once = column_rows(self._schema.types, self._kept, self._dialect)
        one_by_one = self._one_by_one()

        def parts(elements: Iterator[object]) -> Iterator[Iterator[object]]:
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

        def again(record: list[Any]) -> tuple[object, ...] | None:
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
    bindings: dict[str, object] = {"null": dialect.null}
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


def _source(kind: LogicalType, index: int, dialect: CsvDialect, bindings: dict[str, object]) -> str:
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

    def __call__(self, elements: Iterator[object]) -> Iterator[list[str]]:
        while part := list(islice(elements, BUNDLE_SIZE)):
            records = _one_each(part, self._dialect) if type(part[0]) is bytes else None
            yield from map(self._record, part) if records is None else records

    def _record(self, element: object) -> list[str]:
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
) -> tuple[object, ...]:
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
        """Return the function that encodes rows."""
        writers = [_field_writer(kind, self._dialect) for kind in self._schema.types]
        delimiter = self._dialect.delimiter

        def encode(rows: Iterator[Any]) -> Iterator[object]:
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
    simple = _SIMPLE_WRITERS.get(root)
    if simple is not None:
        return simple
    if root is Root.DECIMAL:
        return number_text(kind.scale or 0)
    if root in {Root.TIME, *logical.TIMESTAMPS}:
        return trimmed_time_text(kind)
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


_SIMPLE_WRITERS: dict[Root, Write] = {
    Root.BOOLEAN: lambda value: "true" if value else "false",
    **dict.fromkeys(logical.INTEGERS, str),
    Root.FLOAT: float_text,
    Root.DOUBLE: double_text,
    **dict.fromkeys(logical.CHARACTERS, str),
    **dict.fromkeys(logical.BYTES_LIKE, lambda value: base64.b64encode(value).decode()),
    Root.DATE: date_text,
}


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
        """Return the decoder of messages."""
        check_has_text(schema)
        return CsvDecoder(schema, _dialect(options))

    def encoder(self, schema: Schema, options: TableOptions, time_zone: str) -> Encoder:
        """Return the encoder of messages."""
        check_has_text(schema)
        return CsvEncoder(schema, _dialect(options))

    def file_messages(self, options: TableOptions) -> InputFileFormat:
        """Return the reader of records in files; a record may have several lines."""
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
