"""Parquet and ORC: columns of Arrow as rows, and rows as columns."""

from __future__ import annotations

import datetime
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import pyarrow as pa

from pyflink_on_spark._connectors.formats.file_format import InputFileFormat, OutputFileFormat
from pyflink_on_spark._connectors.formats.orc import OrcFileWriter, orc_arguments, orc_batches
from pyflink_on_spark._connectors.formats.parquet import ParquetFileWriter, ParquetOptions, batches
from pyflink_on_spark._connectors.formats.row_types import reading
from pyflink_on_spark._runtime.elements.bundle import Bundle
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.plan.options import Option, TableOptions, boolean, integer, one_of
from pyflink_on_spark._sql.tables.formats.format import FileFormat
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import FileSplit, OutputFileWriter


_SECOND = 1_000_000


def in_zone(batch: pa.RecordBatch, columns: tuple[int, ...]) -> pa.RecordBatch:
    """Return a batch whose timestamps in UTC are local ones."""
    return _moved(batch, columns, _to_local)


def in_utc(batch: pa.RecordBatch, columns: tuple[int, ...]) -> pa.RecordBatch:
    """Return a batch whose local timestamps are in UTC."""
    return _moved(batch, columns, _to_utc)


def _moved(
    batch: pa.RecordBatch, columns: tuple[int, ...], move: Callable[[int], int]
) -> pa.RecordBatch:
    if not columns or (time.timezone == 0 and not time.daylight):
        return batch
    found = list(batch.columns)
    for index in columns:
        micros = found[index].view(pa.int64()).to_pylist()
        moved = [None if one is None else move(one) for one in micros]
        found[index] = pa.array(moved, pa.int64()).view(found[index].type)
    return pa.RecordBatch.from_arrays(found, schema=batch.schema)


def _to_local(micros: int) -> int:
    seconds, fraction = divmod(micros, _SECOND)
    local = datetime.datetime.fromtimestamp(seconds, datetime.UTC).astimezone()
    offset = local.utcoffset()
    assert offset is not None
    return (seconds + int(offset.total_seconds())) * _SECOND + fraction


def _to_utc(micros: int) -> int:
    seconds, fraction = divmod(micros, _SECOND)
    local = datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None)
    return int(local.astimezone().timestamp()) * _SECOND + fraction


_SIMPLE: dict[Root, Callable[[], pa.DataType]] = {
    Root.BOOLEAN: pa.bool_,
    Root.TINYINT: pa.int8,
    Root.SMALLINT: pa.int16,
    Root.INT: pa.int32,
    Root.BIGINT: pa.int64,
    Root.FLOAT: pa.float32,
    Root.DOUBLE: pa.float64,
    Root.CHAR: pa.string,
    Root.VARCHAR: pa.string,
    Root.BINARY: pa.binary,
    Root.VARBINARY: pa.binary,
    Root.DATE: pa.date32,
    Root.TIME: lambda: pa.time32("ms"),
    Root.TIMESTAMP: lambda: pa.timestamp("us"),
    Root.TIMESTAMP_LTZ: lambda: pa.timestamp("us", "UTC"),
}
_KNOWN = {*_SIMPLE, Root.DECIMAL, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW}
_DECIMAL_BYTES = 16


def columns_schema(
    schema: Schema, identifier: str, missing: frozenset[Root] = frozenset()
) -> pa.Schema:
    """Return Arrow's schema for the columns of a table.

    Args:
        schema: the columns.
        identifier: the format, for the message.
        missing: the types that it does not have.

    Raises:
        ValidationError: the format has no such type.
    """

    def made(kind: LogicalType) -> pa.DataType:
        if kind.root in missing or kind.root not in _KNOWN:
            raise ValidationError(f"The format '{identifier}' has no type for {kind}.")
        return _arrow_type(kind, made)

    return pa.schema(list(map(pa.field, schema.names, map(made, schema.types))))


def _arrow_type(kind: LogicalType, made: Callable[[LogicalType], pa.DataType]) -> pa.DataType:
    if kind.root in _SIMPLE:
        return _SIMPLE[kind.root]()
    if kind.root is Root.DECIMAL:
        return pa.decimal128(kind.precision, kind.scale)
    inner = list(map(made, kind.children))
    if kind.root is Root.ARRAY:
        return pa.list_(inner[0])
    if kind.root is Root.MAP:
        return pa.map_(*inner)
    if kind.root is Root.MULTISET:
        return pa.map_(inner[0], pa.int32())
    return pa.struct(list(map(pa.field, kind.names, inner)))


# -- rows of columns -----------------------------------------------------------------------------


def rows_of(batch: pa.RecordBatch, kinds: Sequence[LogicalType]) -> list[tuple[object, ...]]:
    """Return the rows of a batch.

    Args:
        batch: with the types of ``columns_schema``.
        kinds: the types of the columns.
    """
    if not kinds:
        return [()] * batch.num_rows
    return list(zip(*map(_values, batch.columns, kinds)))


def _values(column: pa.Array, kind: LogicalType) -> Sequence[Any]:
    read = _READERS.get(kind.root)
    values: Sequence[Any] = column.to_pylist() if read is None else read(column, kind)
    return values


def _days(column: pa.Array, _: LogicalType) -> object:
    return column.view(pa.int32()).to_pylist()


def _time_micros(column: pa.Array, _: LogicalType) -> object:
    times = column.view(pa.int32()).to_pylist()
    return [None if time is None else time * 1000 for time in times]


def _micros(column: pa.Array, _: LogicalType) -> object:
    return column.view(pa.int64()).to_pylist()


def _unscaled(column: pa.Array, _: LogicalType) -> object:
    raw = column.buffers()[1].to_pybytes()
    starts = range(
        column.offset * _DECIMAL_BYTES,
        (column.offset + len(column)) * _DECIMAL_BYTES,
        _DECIMAL_BYTES,
    )
    read = int.from_bytes
    numbers = [read(raw[at : at + _DECIMAL_BYTES], "little", signed=True) for at in starts]
    return _where_valid(column, numbers)


def _tuples(column: pa.Array, kind: LogicalType) -> object:
    elements = _values(column.values, kind.children[0])
    ends = column.offsets.to_pylist()
    return _where_valid(column, [tuple(elements[a:b]) for a, b in pairwise(ends)])


def _dicts(column: pa.Array, kind: LogicalType) -> object:
    keys = _values(column.keys, kind.children[0])
    items = column.items
    values = _values(items, kind.children[1]) if kind.root is Root.MAP else items.to_pylist()
    ends = column.offsets.to_pylist()
    found = [dict(zip(keys[a:b], values[a:b])) for a, b in pairwise(ends)]
    return _where_valid(column, found)


def _rows(column: pa.Array, kind: LogicalType) -> Any:
    fields = map(_values, column.flatten(), kind.children)
    return _where_valid(column, list(zip(*fields)))


def _where_valid(column: pa.Array, values: list[Any]) -> list[object]:
    if not column.null_count:
        return values
    valid = column.is_valid().to_pylist()
    return [value if known else None for value, known in zip(values, valid)]


_READERS: dict[Root, Callable[[pa.Array, LogicalType], Any]] = {
    Root.DATE: _days,
    Root.TIME: _time_micros,
    Root.TIMESTAMP: _micros,
    Root.TIMESTAMP_LTZ: _micros,
    Root.DECIMAL: _unscaled,
    Root.ARRAY: _tuples,
    Root.MAP: _dicts,
    Root.MULTISET: _dicts,
    Root.ROW: _rows,
}


# -- columns of rows -----------------------------------------------------------------------------


def batch_of(
    rows: Sequence[Sequence[object]], schema: pa.Schema, kinds: Sequence[LogicalType]
) -> pa.RecordBatch:
    """Return rows as a batch.

    Args:
        rows: at least one.
        schema: what ``columns_schema`` returned.
        kinds: the types of the columns.
    """
    columns = list(map(_column, zip(*rows), kinds, schema.types))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _column(values: Sequence[object], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    write = _WRITERS.get(kind.root)
    return pa.array(values, wanted) if write is None else write(values, kind, wanted)


def _of_days(values: Sequence[object], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int32()).view(wanted)


def _of_times(values: Sequence[Any], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    millis = [None if value is None else value // 1000 for value in values]
    return pa.array(millis, pa.int32()).view(wanted)


def _of_micros(values: Sequence[object], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int64()).view(wanted)


def _of_unscaled(values: Sequence[Any], _: LogicalType, wanted: pa.DataType) -> pa.Array:
    raw = b"".join(
        [(value or 0).to_bytes(_DECIMAL_BYTES, "little", signed=True) for value in values]
    )
    buffers = [_validity(values), pa.py_buffer(raw)]
    return pa.Array.from_buffers(wanted, len(values), buffers)


def _of_tuples(values: Sequence[Any], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    elements = [element for value in values if value is not None for element in value]
    inner = _column(elements, kind.children[0], wanted.value_type)
    return pa.Array.from_buffers(
        wanted, len(values), [_validity(values), _ends(values)], children=[inner]
    )


def _of_dicts(values: Sequence[Any], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    pairs = [pair for value in values if value is not None for pair in value.items()]
    keys = _column([key for key, _ in pairs], kind.children[0], wanted.key_type)
    found = [value for _, value in pairs]
    if kind.root is Root.MAP:
        items = _column(found, kind.children[1], wanted.item_type)
    else:
        items = pa.array(found, wanted.item_type)
    entries = pa.StructArray.from_arrays(
        [keys, items], fields=[wanted.key_field, wanted.item_field]
    )
    return pa.Array.from_buffers(
        wanted, len(values), [_validity(values), _ends(values)], children=[entries]
    )


def _of_rows(values: Sequence[object], kind: LogicalType, wanted: pa.DataType) -> pa.Array:
    nothing = (None,) * len(kind.children)
    rows = [nothing if value is None else value for value in values]
    types = [field.type for field in wanted]
    fields = list(map(_column, zip(*rows), kind.children, types)) if rows else None
    if fields is None:
        return pa.array([], wanted)
    return pa.Array.from_buffers(wanted, len(values), [_validity(values)], children=fields)


def _validity(values: Sequence[object]) -> pa.Buffer | None:
    if None not in values:
        return None
    return pa.array([value is not None for value in values], pa.bool_()).buffers()[1]


def _ends(values: Sequence[Any]) -> pa.Buffer:
    sizes = [0 if value is None else len(value) for value in values]
    return pa.array(list(accumulate(sizes, initial=0)), pa.int32()).buffers()[1]


_WRITERS: dict[Root, Callable[[Sequence[Any], LogicalType, pa.DataType], pa.Array]] = {
    Root.DATE: _of_days,
    Root.TIME: _of_times,
    Root.TIMESTAMP: _of_micros,
    Root.TIMESTAMP_LTZ: _of_micros,
    Root.DECIMAL: _of_unscaled,
    Root.ARRAY: _of_tuples,
    Root.MAP: _of_dicts,
    Root.MULTISET: _of_dicts,
    Root.ROW: _of_rows,
}


class ColumnsInput(InputFileFormat):
    """Reads rows of files; a column that a file lacks is NULL.

    Args:
        schema: the columns.
        identifier: the format.
        local_times: whether timestamps are in UTC in files, and in the process's time zone here.
    """

    missing: ClassVar[frozenset[Root]] = frozenset()
    """The types that the format does not have."""

    def __init__(self, schema: Schema, identifier: str, *, local_times: bool) -> None:
        self._schema = schema
        self._arrow = columns_schema(schema, identifier, self.missing)
        self._moved = timestamp_columns(schema) if local_times else ()

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the rows, which are tuples."""
        return Types.PICKLED_BYTE_ARRAY()

    @abstractmethod
    def batches(self, path: str, schema: pa.Schema, skip: int) -> Iterator[pa.RecordBatch]:
        """Yield the columns of a file, without some rows at its beginning."""

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the rows."""
        return (bundle for bundle, _ in self.resume(split, None))

    def resume(self, split: FileSplit, position: int | None) -> Iterator[tuple[Bundle, int]]:
        """Yield rows from a position on, which is the number of rows before it."""
        read = position or 0
        with reading(split.path):
            for batch in self.batches(split.path, self._arrow, read):
                rows = rows_of(in_zone(batch, self._moved), self._schema.types)
                read += len(rows)
                yield Bundle(rows), read


class ColumnsOutput(OutputFileFormat):
    """Writes rows to files. A subclass opens the file.

    Args:
        schema: the columns.
        identifier: the format.
        local_times: whether timestamps are in UTC in files, and in the process's time zone here.
    """

    missing: ClassVar[frozenset[Root]] = frozenset()
    """The types that the format does not have."""

    def __init__(self, schema: Schema, identifier: str, *, local_times: bool) -> None:
        self._schema = schema
        self._arrow = columns_schema(schema, identifier, self.missing)
        self._moved = timestamp_columns(schema) if local_times else ()

    def check_input(self, type_info: TypeInformation | None) -> None:
        """Do nothing: the table has checked the columns."""

    def converter(self) -> Callable[[Any], object]:
        """Return the identity: rows are written as they are."""
        return _same

    def columns(self, schema: pa.Schema, rows: list[Any]) -> pa.RecordBatch:
        """Return rows as a batch."""
        return in_utc(batch_of(rows, schema, self._schema.types), self._moved)


def timestamp_columns(schema: Schema) -> tuple[int, ...]:
    """Return the places of the columns of timestamps without a time zone."""
    return tuple(i for i, kind in enumerate(schema.types) if kind.root is Root.TIMESTAMP)


def _same(row: object) -> object:
    return row


_MISSING = frozenset({Root.TIME, Root.MULTISET})


class OrcFormat(FileFormat):
    """ORC files; the options are those of ORC's writer."""

    identifier = "orc"

    def file_input(self, schema: Schema, options: TableOptions, time_zone: str) -> OrcInput:
        """Return the reader of files."""
        _arguments(options)
        return OrcInput(schema, self.identifier, local_times=False)

    def file_output(self, schema: Schema, options: TableOptions, time_zone: str) -> OrcOutput:
        """Return the writer of files."""
        return OrcOutput(schema, _arguments(options))


def _arguments(options: TableOptions) -> dict[str, object]:
    given = options.beginning_with(options.prefix)
    try:
        return orc_arguments({f"orc.{key}": value for key, value in given.items()})
    except ValueError as error:
        raise ValidationError(str(error)) from None


class OrcInput(ColumnsInput):
    """Reads rows of ORC files."""

    missing = _MISSING

    def batches(self, path: str, schema: pa.Schema, skip: int) -> Iterator[pa.RecordBatch]:
        """Yield the columns of a file."""
        return orc_batches(path, schema, skip, self.most)


class OrcOutput(ColumnsOutput):
    """Writes rows to ORC files.

    Args:
        schema: the columns.
        arguments: the arguments of Arrow's writer.
    """

    missing = _MISSING

    def __init__(self, schema: Schema, arguments: dict[str, object]) -> None:
        super().__init__(schema, OrcFormat.identifier, local_times=False)
        self._arguments = arguments

    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""
        return OrcFileWriter(file, self._arrow, self._arguments, self.columns)


_UTC = Option("utc-timezone", boolean, default=False)
_BATCH_SIZE = Option("batch-size", integer, default=2048)
_INT64 = Option("write.int64.timestamp", boolean, default=False)
_UNIT = Option("timestamp.time.unit", one_of("millis", "micros", "nanos"), default="micros")


class ParquetFormat(FileFormat):
    """Parquet files."""

    identifier = "parquet"
    options = (_UTC, _BATCH_SIZE, _INT64, _UNIT)

    def file_input(self, schema: Schema, options: TableOptions, time_zone: str) -> ParquetInput:
        """Return the reader of files."""
        _writer_options(options)
        size = options[_BATCH_SIZE]
        assert size is not None
        return ParquetInput(schema, size, local_times=not options[_UTC])

    def file_output(self, schema: Schema, options: TableOptions, time_zone: str) -> ParquetOutput:
        """Return the writer of files."""
        return ParquetOutput(schema, _writer_options(options), local_times=not options[_UTC])


def _writer_options(options: TableOptions) -> ParquetOptions:
    """Return the options of the writer; those of Hadoop's writer are among the table's."""
    own = {option.key for option in ParquetFormat.options}
    options.note(ParquetFormat.options)
    given = {
        f"parquet.{key}": value
        for key, value in options.beginning_with(options.prefix).items()
        if key not in own
    }
    try:
        found = ParquetOptions.of(given)
    except ValueError as error:
        raise ValidationError(str(error)) from None
    unit = {"millis": "ms", "micros": "us", "nanos": "ns"}[options[_UNIT] or "micros"]
    # Version 1.0 of the format has no unit below a microsecond.
    version = "2.6" if options[_INT64] and unit == "ns" else found.version
    return replace(
        found,
        int96_timestamps=not options[_INT64],
        timestamp_unit=unit if options[_INT64] else None,
        version=version,
    )


class ParquetInput(ColumnsInput):
    """Reads rows of Parquet files.

    Args:
        schema: the columns.
        batch_size: the number of rows to read at a time.
        local_times: whether timestamps are in UTC in files.
    """

    def __init__(self, schema: Schema, batch_size: int, *, local_times: bool) -> None:
        super().__init__(schema, ParquetFormat.identifier, local_times=local_times)
        self._batch_size = batch_size

    def batches(self, path: str, schema: pa.Schema, skip: int) -> Iterator[pa.RecordBatch]:
        """Yield the columns of a file."""
        return batches(path, schema, self._batch_size, skip, most=self.most)


class ParquetOutput(ColumnsOutput):
    """Writes rows to Parquet files.

    Args:
        schema: the columns.
        options: the options of the writer.
        local_times: whether timestamps are in UTC in files.
    """

    def __init__(self, schema: Schema, options: ParquetOptions, *, local_times: bool) -> None:
        super().__init__(schema, ParquetFormat.identifier, local_times=local_times)
        self._options = options
        if options.timestamp_unit == "ns":
            self._arrow = pa.schema([_in_nanos(field) for field in self._arrow])

    def columns(self, schema: pa.Schema, rows: list[object]) -> pa.RecordBatch:
        """Return rows as a batch, with timestamps in the unit of the file."""
        made = super().columns(columns_schema(self._schema, ParquetFormat.identifier), rows)
        found = [column.cast(kind) for column, kind in zip(made.columns, schema.types)]
        return pa.RecordBatch.from_arrays(found, schema=schema)

    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""
        return ParquetFileWriter(file, self._arrow, self._options, self.columns)


def _in_nanos(field: pa.Field) -> pa.Field:
    kind = field.type
    return field.with_type(pa.timestamp("ns", kind.tz)) if pa.types.is_timestamp(kind) else field
