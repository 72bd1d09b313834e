"""CSV files of rows."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats import java_parsing
from pyflink_on_spark._connectors.formats.compression import (
    ChunkFile,
    is_compressed,
    read_compressed,
)
from pyflink_on_spark._connectors.formats.csv_records import (
    CsvDialect,
    FastRecordReader,
    RecordReader,
    quoting,
)
from pyflink_on_spark._connectors.formats.file_format import (
    CorruptRecordError,
    InputFileFormat,
    OutputFileFormat,
    OutputFileWriter,
    check_rows,
    too_long,
)
from pyflink_on_spark._connectors.formats.row_types import row_type_info, to_arrow, type_info_of
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.types.composite import new_row
from pyflink_on_spark._runtime.types.converters import codec_of
from pyflink_on_spark.common.data_types import ArrayType, DataType, DecimalType, RowType
from pyflink_on_spark.common.types import Row, RowKind

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import FileSplit
    from pyflink_on_spark._runtime.types.codec import Convert
    from pyflink_on_spark.common.typeinfo import TypeInformation


_CHUNK = 256 * 1024


@dataclass(frozen=True)
class CsvFileSettings:
    """The form of a CSV file.

    Attributes:
        row_type: the columns.
        array_separators: for each column the separator of array elements, if it has arrays.
        text: the dialect of the records.
        line_end: the line end for writing.
        null: the text for None. None: no text is read as None, and None is written as no text.
        header: whether the file has a header.
        strict_header: whether the header must have the names of the columns in their order.
        skip_first_line: whether the first line of data is skipped.
        extra_fields: whether a record may have more fields than there are columns.
    """

    row_type: RowType
    array_separators: tuple[str, ...]
    text: CsvDialect
    line_end: str
    null: str | None
    header: bool
    strict_header: bool
    skip_first_line: bool
    extra_fields: bool

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.row_type]


class CsvFileInput(InputFileFormat):
    """Reads rows of CSV files, which may be compressed.

    Args:
        form: the form of the files.
        most: how many bytes a line may have.
    """

    def __init__(self, form: CsvFileSettings, most: int = sys.maxsize) -> None:
        self._form, self._most = form, most

    def with_most(self, most: int) -> InputFileFormat:
        """The same format, where a line may have so many bytes."""
        return CsvFileInput(self._form, most)

    @property
    def produced_type(self) -> TypeInformation:
        return row_type_info(self._form.row_type)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        text, taken, maker = self._form.text, 0, _RowMaker(self._form)
        if not text.comments and text.escape is None:
            with _open(split.path, self._most) as file:
                quick = FastRecordReader(file, text)
                for chunk in self._chunks(quick, split.path):
                    yield from self._rows(maker, chunk, split.path, taken)
                    taken += len(chunk)
                if not quick.stuck:
                    return
        with _open(split.path, self._most) as file:
            records = RecordReader(file, text)
            try:
                for chunk in self._chunks(records, split.path, taken):
                    yield from self._rows(maker, chunk, split.path, taken)
                    taken += len(chunk)
            except CorruptRecordError:
                raise
            except ValueError as error:
                raise _corrupt(split.path, records.line, error) from error

    def _chunks(
        self, records: FastRecordReader | RecordReader, path: str, skip: int = 0
    ) -> Iterator[list[list[str]]]:
        """Yield records, some at a time, without the header and ``skip`` records after it."""
        self._skip_beginning(records, path)
        records.take(skip)
        while chunk := records.take(BUNDLE_SIZE):
            yield chunk
            records.check()
        records.check()

    def _skip_beginning(self, records: FastRecordReader | RecordReader, path: str) -> None:
        if self._form.header:
            header = records.take(1)
            records.check()
            if self._form.strict_header and not records.stuck:
                _check_header(header[0] if header else [], self._form.names, path)
        if self._form.skip_first_line:
            records.skip_line()

    def _rows(
        self, maker: _RowMaker, chunk: list[list[str]], path: str, taken: int
    ) -> Iterator[Bundle]:
        try:
            yield from maker.rows(chunk)
        except _BadRecord as error:
            line = self._line_of(path, taken + error.index)
            raise _corrupt(path, line, error) from error

    def _line_of(self, path: str, index: int) -> int:
        """Return the number of the line at which a record ends."""
        with _open(path) as file:
            records = RecordReader(file, self._form.text)
            self._skip_beginning(records, path)
            records.take(index + 1)
            return records.line


def _corrupt(path: str, line: int, error: ValueError) -> CorruptRecordError:
    return CorruptRecordError(f"cannot read {path}, line {line}: {error}")


def _open(path: str, most: int = sys.maxsize) -> io.TextIOWrapper:
    chunks = read_compressed(path, _CHUNK) if is_compressed(path) else _plain_chunks(path)
    raw: Any = io.BufferedReader(ChunkFile(_of_short_lines(chunks, path, most)), _CHUNK)
    return io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def _plain_chunks(path: str) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        yield from iter(partial(file.read, _CHUNK), b"")


def _of_short_lines(chunks: Iterator[bytes], path: str, most: int) -> Iterator[bytes]:
    """Yield chunks until a line is too long."""
    size = 0
    for chunk in chunks:
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        size = size + len(chunk) if end < 0 else len(chunk) - end - 1
        if size > most:
            raise too_long(path, most)
        yield chunk


def _check_header(found: list[str], names: list[str], path: str) -> None:
    wrong = _header_error(found, names)
    if wrong is not None:
        raise CorruptRecordError(f"cannot read {path}: {wrong}")


def _header_error(found: list[str], names: list[str]) -> str | None:
    for number, name in enumerate(names, 1):
        if len(found) < number:
            return f'Missing header column #{number}, expecting "{name}"'
        if found[number - 1] != name:
            actual = found[number - 1]
            return f'Mismatched header column #{number}: expected "{name}", actual "{actual}"'
    if len(found) > len(names):
        return f'Extra header column "{found[len(names)]}"'
    return None


class _BadRecord(ValueError):
    """A record that is not a row; ``index`` is its index in the chunk."""

    index = 0


class _RowMaker:
    """Makes rows of records, many at once if all of them are well-formed."""

    def __init__(self, form: CsvFileSettings) -> None:
        self._names = form.names
        self._size = len(self._names)
        self._extra_fields = form.extra_fields
        kinds = (field.data_type for field in form.row_type)
        self._parsers = [
            column_parser(kind, between, form.null)
            for kind, between in zip(kinds, form.array_separators)
        ]

    def rows(self, records: list[list[str]]) -> Iterator[Bundle]:
        """Yield the rows; before an error yield the rows before the bad record."""
        names, insert = self._names, RowKind.INSERT
        try:
            columns = self._columns(records)
        except ValueError:
            yield from self._rows_one_by_one(records)
        else:
            yield Bundle([new_row(names, list(row), insert) for row in zip(*columns)])

    def _columns(self, records: list[list[str]]) -> list[Sequence[object]]:
        if set(map(len, records)) != {self._size}:
            records = list(map(self._fields, records))
        return [
            column if parse is None else list(map(parse, column))
            for parse, column in zip(self._parsers, zip(*records))
        ]

    def _rows_one_by_one(self, records: list[list[str]]) -> Iterator[Bundle]:
        good = []
        for index, record in enumerate(records):
            try:
                good.append(new_row(self._names, self._values(record), RowKind.INSERT))
            except ValueError as error:
                if good:
                    yield Bundle(good)
                bad = _BadRecord(str(error))
                bad.index = index
                raise bad from error

    def _values(self, record: list[str]) -> list[object]:
        values = []
        for name, parse, text in zip(self._names, self._parsers, self._fields(record)):
            try:
                values.append(text if parse is None else parse(text))
            except ValueError as error:
                raise ValueError(f"Fail to deserialize at field: {name}. {error}") from error
        return values

    def _fields(self, record: list[str]) -> list[str]:
        size, found = self._size, len(record) or 1
        if found < size:
            raise ValueError(f"Row length mismatch. {size} fields expected but was {found}.")
        if not record:
            return [""]
        if (
            found > size
            and not self._extra_fields
            and (found > size + 1 or java_parsing.trimmed(record[size]))
        ):
            raise ValueError(
                f"Too many entries: expected at most {size} (value #{size} "
                f'({len(record[size])} chars) "{record[size]}")'
            )
        return record[:size]


@dataclass(frozen=True)
class CsvFileOutput(OutputFileFormat):
    """Writes rows to CSV files.

    Args:
        form: the form of the files.
    """

    form: CsvFileSettings

    def check_input(self, type_info: TypeInformation | None) -> None:
        check_rows(type_info)

    def converter(self) -> Callable[[object], str]:
        form = self.form
        null, delimiter, line_end = form.null or "", form.text.delimiter, form.line_end
        quoted = self._quoted()
        kinds = (field.data_type for field in form.row_type)
        writers = [
            column_writer(kind, between, null, quoted)
            for kind, between in zip(kinds, form.array_separators)
        ]

        def convert(row: object) -> str:
            if not isinstance(row, Row):
                raise TypeError(f"rows are written, not {type(row).__name__}: {row!r}")
            try:
                fields = [
                    null if value is None else write(value)
                    for write, value in zip(writers, row._values, strict=True)
                ]
            except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
                raise ValueError(
                    f"the row {row} does not fit the file's columns: {error}"
                ) from error
            return f"{delimiter.join(fields)}{line_end}"

        return convert

    def open(self, file: BinaryIO) -> OutputFileWriter:
        if self.form.header:
            names = map(self._quoted(), self.form.names)
            file.write(f"{self.form.text.delimiter.join(names)}{self.form.line_end}".encode())
        return _LinesWriter(file)

    def _quoted(self) -> Callable[[str], str]:
        text = self.form.text
        return quoting(text.delimiter, text.quote, text.escape, self.form.line_end)


class _LinesWriter(OutputFileWriter):
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, elements: Sequence[str]) -> None:
        self._file.write("".join(elements).encode())

    def finish(self) -> None:
        self._file.flush()


_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_TEXTS = ("VARCHAR", "CHAR")


def column_parser(
    data_type: DataType, array_separator: str, null: str | None
) -> Callable[[str], object] | None:
    """Return a function that parses the text of a column; None if the text itself is the value.

    An array is never None: the text for None is an array whose single element is None.

    Args:
        data_type: the type of the column.
        array_separator: the separator of array elements; may be empty.
        null: the text for None, if there is one.

    Raises:
        ValueError: the returned function raises it for an invalid text.
    """
    parse = _parser(data_type, array_separator, null)
    if null is None or isinstance(data_type, ArrayType):
        return parse
    if parse is None:
        return lambda text: None if text == null else text
    return lambda text: None if text == null else parse(text)


def _parser(data_type: DataType, array_separator: str, null: str | None) -> Convert | None:
    if isinstance(data_type, ArrayType):
        return _array_parser(data_type.element_type, array_separator, null)
    if isinstance(data_type, DecimalType):
        rounded = to_arrow(pa.decimal128(data_type.precision, data_type.scale))
        assert rounded is not None
        return lambda text: rounded(java_parsing.decimal(text))
    name = data_type.type_name()
    if name in _TEXTS:
        return None
    if name not in _PARSERS:
        refuse_column(data_type)
    return _PARSERS[name]


def _array_parser(element_type: DataType, separator: str, null: str | None) -> Convert:
    element = column_parser(element_type, "", null)

    def parse(text: str) -> list[Any]:
        if not text:
            return []
        parts = text.split(separator) if separator else [text]
        return parts if element is None else list(map(element, parts))

    return parse


def column_writer(
    data_type: DataType, array_separator: str, null: str, quoted: Callable[[str], str]
) -> Callable[[Any], str]:
    """Return a function that returns the text of a column's value, which is not None.

    Args:
        data_type: the type of the column.
        array_separator: the separator of array elements; may be empty.
        null: the text for an array element that is None.
        quoted: quotes a text if necessary.

    Raises:
        TypeError: the returned function raises it for a value of another type.
        ValueError: the returned function raises it for an array without a separator.
    """
    if isinstance(data_type, ArrayType):
        element = _text(data_type.element_type)

        def write_array(items: Sequence[object]) -> str:
            if not array_separator:
                raise ValueError("arrays are not written without an array element separator")
            texts = [null if item is None else element(item) for item in items]
            return quoted(array_separator.join(texts))

        return write_array
    text = _text(data_type)
    if data_type.type_name() in _TEXTS:
        return lambda value: quoted(value if type(value) is str else text(value))
    return text


def _text(data_type: DataType) -> Callable[[object], str]:
    if isinstance(data_type, DecimalType):
        return _decimal_text(data_type)
    name = data_type.type_name()
    if name in _TEXTS:
        return _checked_text
    if name not in _PARSERS:
        refuse_column(data_type)
    codec = codec_of(type_info_of(data_type))
    low, high = codec.ints

    def write(value: object) -> str:
        if type(value) is int and low <= value <= high:
            return str(value)
        return codec.text(codec.convert(value))

    return write


def _decimal_text(data_type: DecimalType) -> Callable[[object], str]:
    rounded = to_arrow(pa.decimal128(data_type.precision, data_type.scale))
    assert rounded is not None

    def write(value: object) -> str:
        fitting = rounded(value)
        return "" if fitting is None else str(_EXACT.normalize(fitting))

    return write


def _checked_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a str")
    return value


def refuse_column(data_type: DataType) -> None:
    """Raise UnsupportedFlinkFeature for a type that columns do not support."""
    raise_unsupported(
        f"a column of type {data_type} in a CSV file",
        kind=Gap.NOT_YET,
        reason="columns are texts, numbers, booleans and arrays of these",
        instead="Add it with add_string_column, and convert it in a map().",
    )


_PARSERS: dict[str, Callable[[str], object]] = {
    "BOOLEAN": lambda text: java_parsing.is_true(java_parsing.trimmed(text)),
    "TINYINT": java_parsing.bounded_whole_number(8),
    "SMALLINT": java_parsing.bounded_whole_number(16),
    "INT": java_parsing.bounded_whole_number(32),
    "BIGINT": java_parsing.bounded_whole_number(64),
    "FLOAT": java_parsing.single,
    "DOUBLE": java_parsing.double,
}
