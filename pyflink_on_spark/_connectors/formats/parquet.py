"""Parquet files of rows and of Avro records, and their options."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.avro import AvroInput, AvroOutput
from pyflink_on_spark._connectors.formats.compression import check_size
from pyflink_on_spark._connectors.formats.file_format import (
    ArrowFileWriter,
    InputFileFormat,
    OutputFileFormat,
    OutputFileWriter,
    check_rows,
)
from pyflink_on_spark._connectors.formats.row_types import (
    Columns,
    arrow_schema,
    column_converters,
    columns_of,
    from_arrow,
    reading,
    record_batch,
    row_type_info,
    row_values,
    to_arrow,
    with_schema,
)
from pyflink_on_spark._filesystem.local_files import source_of
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.types.composite import new_row
from pyflink_on_spark.common.data_types import RowType
from pyflink_on_spark.common.types import RowKind

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.file_format import FileSplit
    from pyflink_on_spark.common.typeinfo import TypeInformation

_CODECS = ("uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "brotli", "zstd")
_FILE_SYSTEMS = ("fs.", "dfs.", "hadoop.", "io.")
_CHUNK_ROWS = 8192


@dataclass(frozen=True)
class ParquetOptions:
    """The options of a Parquet writer.

    Attributes:
        compression: the codec, or ``none``.
        row_group_bytes: the approximate size of a row group in memory.
        page_bytes: the approximate size of a page; None for Arrow's default.
        dictionary: whether columns are dictionary-encoded.
        version: the version of the format.
        int96_timestamps: whether timestamps have 96 bits, as in Flink's files of rows.
        timestamp_unit: the unit of timestamps of 64 bits; None for that of the column.
    """

    compression: str = "snappy"
    row_group_bytes: int = 128 * 1024 * 1024
    page_bytes: int | None = None
    dictionary: bool = True
    version: str = "1.0"
    int96_timestamps: bool = True
    timestamp_unit: str | None = None

    @classmethod
    def of(cls, hadoop: dict[str, str]) -> ParquetOptions:
        """Return the options that correspond to Hadoop's.

        Raises:
            ValueError: an option has an invalid value.
            UnsupportedFlinkFeature: an option has no counterpart.
        """
        given: dict[str, Any] = {}
        for name, text in hadoop.items():
            if name == "parquet.compression":
                given["compression"] = _codec(text)
            elif name == "parquet.block.size":
                given["row_group_bytes"] = int(text)
            elif name == "parquet.page.size":
                given["page_bytes"] = int(text)
            elif name == "parquet.enable.dictionary":
                given["dictionary"] = text.strip().lower() == "true"
            elif name == "parquet.writer.version":
                given["version"] = {"v1": "1.0", "v2": "2.6"}[_version(text)]
            else:
                refuse_option(name, "Parquet's writer")
        return cls(**given)

    def writer_arguments(self) -> dict[str, object]:
        """Return the arguments of Arrow's writer."""
        return {
            "compression": self.compression,
            "use_dictionary": self.dictionary,
            "data_page_size": self.page_bytes,
            "version": self.version,
            "use_deprecated_int96_timestamps": self.int96_timestamps,
            "coerce_timestamps": None if self.timestamp_unit == "ns" else self.timestamp_unit,
            "allow_truncated_timestamps": True,
            "store_schema": False,
        }


def refuse_option(name: str, reader: str) -> None:
    """Raise UnsupportedFlinkFeature for an option without a counterpart."""
    raise_unsupported(
        f"the option {name!r} of {reader}",
        kind=Gap.NEVER if name.startswith(_FILE_SYSTEMS) else Gap.NOT_YET,
        reason="Arrow reads and writes the file, not Hadoop",
        instead="Leave it out.",
    )


def _codec(text: str) -> str:
    name = text.strip().lower()
    if name not in _CODECS:
        raise ValueError(f"parquet.compression is one of {', '.join(_CODECS)}, not {text!r}")
    return "none" if name == "uncompressed" else name


def _version(text: str) -> str:
    short = {"parquet_1_0": "v1", "parquet_2_0": "v2"}.get(text.lower(), text.lower())
    if short not in ("v1", "v2"):
        raise ValueError(f"parquet.writer.version is v1 or v2, not {text!r}")
    return short


class ParquetFileWriter(ArrowFileWriter):
    """Writes converted rows to a Parquet file, one row group at a time.

    Args:
        file: the file.
        schema: the columns.
        options: the options of the writer.
        columns: makes a batch of the schema and the rows.
    """

    def __init__(
        self,
        file: BinaryIO,
        schema: pa.Schema,
        options: ParquetOptions,
        columns: Columns = record_batch,
    ) -> None:
        self._schema, self._columns = schema, columns
        self._row_group_bytes = options.row_group_bytes
        self._rows: list[object] = []
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0
        self._writer = pq.ParquetWriter(file, schema, **options.writer_arguments())

    def write(self, elements: Sequence[object]) -> None:
        self._rows += elements
        if len(self._rows) >= _CHUNK_ROWS:
            self._make_batch()
            if self._bytes >= self._row_group_bytes:
                self._write_row_group()

    def finish(self) -> None:
        self._make_batch()
        self._write_row_group()
        self._writer.close()

    def _make_batch(self) -> None:
        if self._rows:
            batch = self._columns(self._schema, self._rows)
            self._batches.append(batch)
            self._bytes += batch.nbytes
            self._rows = []

    def _write_row_group(self) -> None:
        if self._batches:
            table = pa.Table.from_batches(self._batches)
            self._writer.write_table(table, row_group_size=max(table.num_rows, 1))
            self._batches, self._bytes = [], 0


@dataclass(frozen=True)
class ParquetFileOutput(OutputFileFormat):
    """Writes rows to Parquet files.

    Args:
        row_type: the columns.
        utc_timestamps: whether timestamps without a zone are written unchanged. Otherwise they are
            converted from the local time zone to UTC.
        options: the options of the writer.
    """

    row_type: RowType
    utc_timestamps: bool
    options: ParquetOptions = field(default_factory=ParquetOptions)

    def check_input(self, type_info: TypeInformation | None) -> None:
        check_rows(type_info)

    def converter(self) -> Callable[[object], object]:
        schema = arrow_schema(self.row_type)
        convert = row_values(schema)
        moved = [] if self.utc_timestamps else _timestamp_columns(schema)
        if not moved:
            return convert

        def convert_to_utc(row: object) -> tuple[object, ...]:
            values = list(convert(row))
            for index in moved:
                if values[index] is not None:
                    values[index] = _local_to_utc(values[index])
            return tuple(values)

        return convert_to_utc

    def open(self, file: BinaryIO) -> OutputFileWriter:
        return ParquetFileWriter(file, arrow_schema(self.row_type), self.options)


class ParquetFileInput(InputFileFormat):
    """Reads rows of Parquet files; a column that a file lacks is None.

    Args:
        row_type: the columns to read.
        batch_size: the number of rows to read at a time.
        utc_timestamps: whether timestamps are read unchanged. Otherwise they are converted from UTC
            to the local time zone.
        case_sensitive: whether the names of columns are case-sensitive.
    """

    def __init__(
        self, row_type: RowType, batch_size: int, *, utc_timestamps: bool, case_sensitive: bool
    ) -> None:
        self._row_type = row_type
        self._batch_size = batch_size
        self._utc_timestamps = utc_timestamps
        self._case_sensitive = case_sensitive

    @property
    def produced_type(self) -> TypeInformation:
        return row_type_info(self._row_type)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        return (bundle for bundle, _ in self.resume(split, None))

    def resume(self, split: FileSplit, position: int | None) -> Iterator[tuple[Bundle, int]]:
        """Yield rows from a position on, which is the number of rows before it."""
        schema = arrow_schema(self._row_type)
        names = list(schema.names)
        read, insert = position or 0, RowKind.INSERT
        with reading(split.path):
            found = batches(
                split.path, schema, self._batch_size, read, self._case_sensitive, self.most
            )
            for batch in found:
                columns = self._columns(batch, schema)
                rows = [new_row(names, list(values), insert) for values in zip(*columns)]
                read += len(rows)
                yield Bundle(rows), read

    def _columns(self, batch: pa.RecordBatch, schema: pa.Schema) -> list[list[object]]:
        columns = [column.to_pylist() for column in batch.columns]
        for index, convert in column_converters(schema, from_arrow):
            columns[index] = list(map(convert, columns[index]))
        for index in [] if self._utc_timestamps else _timestamp_columns(schema):
            moments = columns[index]
            columns[index] = [None if one is None else _utc_to_local(one) for one in moments]
        return columns


def batches(
    path: str,
    schema: pa.Schema,
    batch_size: int,
    skip: int = 0,
    case_sensitive: bool = True,
    most: int = sys.maxsize,
) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a schema from a file; a column that the file lacks is null.

    Args:
        path: the file.
        schema: the columns and their types.
        batch_size: the largest number of rows in a batch.
        skip: the number of rows to skip at the beginning.
        case_sensitive: whether the names of columns are case-sensitive.
        most: how many bytes a column of a row group may have after decompression.

    Raises:
        TooLargeError: it has more.
    """
    with pq.ParquetFile(source_of(path), coerce_int96_timestamp_unit="us") as file:
        found = columns_of(file.schema_arrow, schema, case_sensitive)
        groups, skip = _groups_after(file.metadata, skip)
        columns = [name for name in found if name is not None]
        _check_groups(file.metadata, groups, set(columns), most)
        for batch in file.iter_batches(batch_size, row_groups=groups, columns=columns):
            skipped = min(skip, batch.num_rows)
            skip -= skipped
            if skipped < batch.num_rows:
                yield with_schema(batch.slice(skipped), schema, found)


def _check_groups(metadata: Any, groups: list[int], columns: set[str], most: int) -> None:
    """Refuse columns that are too large by the footer, of those that are read."""
    for group in groups:
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            chunk = row_group.column(index)
            if chunk.path_in_schema.partition(".")[0] in columns:
                what = f"column {chunk.path_in_schema!r} of row group {group}"
                check_size(what, chunk.total_uncompressed_size, most)


def _groups_after(metadata: Any, skip: int) -> tuple[list[int], int]:
    """Return the row groups to read, and the number of rows to skip in them."""
    first = 0
    while first < metadata.num_row_groups and skip >= metadata.row_group(first).num_rows:
        skip -= metadata.row_group(first).num_rows
        first += 1
    return list(range(first, metadata.num_row_groups)), skip


def _timestamp_columns(schema: pa.Schema) -> list[int]:
    return [
        index
        for index, one in enumerate(schema)
        if pa.types.is_timestamp(one.type) and one.type.tz is None
    ]


def _local_to_utc(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC).replace(tzinfo=None)


def _utc_to_local(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(tzinfo=datetime.UTC).astimezone().replace(tzinfo=None)


_PRIMITIVE: dict[str, Callable[[], pa.DataType]] = {
    "boolean": pa.bool_,
    "int": pa.int32,
    "long": pa.int64,
    "float": pa.float32,
    "double": pa.float64,
    "string": pa.string,
    "enum": pa.string,
    "bytes": pa.binary,
}
_LOGICAL: dict[str, Callable[[], pa.DataType]] = {
    "date": pa.date32,
    "time-millis": lambda: pa.time32("ms"),
    "time-micros": lambda: pa.time64("us"),
    "timestamp-millis": lambda: pa.timestamp("ms", "UTC"),
    "timestamp-micros": lambda: pa.timestamp("us", "UTC"),
}
_INT64_TIMESTAMPS = ParquetOptions(compression="none", int96_timestamps=False)


def avro_arrow_schema(definition: object) -> pa.Schema:
    """Return Arrow's schema of an Avro record.

    Raises:
        ValueError: the definition is not the schema of a record.
        UnsupportedFlinkFeature: Arrow has no counterpart of a type.
    """
    kind = _arrow_type(definition, {})
    if not pa.types.is_struct(kind):
        raise ValueError("Avro schema must be a record.")
    return pa.schema(list(kind))


def _arrow_type(definition: Any, named: dict[str, object]) -> pa.DataType:
    if isinstance(definition, list):
        return _of_union(definition, named)
    if isinstance(definition, str):
        if definition in named:
            return named[definition]
        definition = {"type": definition}
    kind = definition["type"]
    if isinstance(kind, (dict, list)):
        return _arrow_type(kind, named)
    found = _named_type(definition, kind, named)
    if found is None:
        raise_unsupported(
            f"the Avro type {definition}",
            kind=Gap.NOT_YET,
            reason="it is not written to Parquet",
            instead="Write Avro files with AvroBulkWriters.",
        )
    if "name" in definition:
        named[definition["name"]] = found
    return found


def _named_type(definition: dict[str, Any], kind: str, named: dict[str, object]) -> object:
    logical = definition.get("logicalType")
    if logical in _LOGICAL:
        return _LOGICAL[logical]()
    if logical == "decimal":
        return pa.decimal128(definition["precision"], definition.get("scale", 0))
    if kind == "record":
        fields = [(one["name"], _field_type(one["type"], named)) for one in definition["fields"]]
        return pa.struct([pa.field(name, *about) for name, about in fields])
    if kind == "array":
        return pa.list_(pa.field("array", *_field_type(definition["items"], named)))
    if kind == "map":
        return pa.map_(pa.string(), _arrow_type(definition["values"], named))
    if kind == "fixed":
        return pa.binary(definition["size"])
    return _PRIMITIVE[kind]() if kind in _PRIMITIVE else named.get(kind)


def _field_type(definition: object, named: dict[str, object]) -> tuple[pa.DataType, bool]:
    nullable = isinstance(definition, list) and "null" in definition
    return _arrow_type(definition, named), nullable


def _of_union(kinds: list[object], named: dict[str, object]) -> pa.DataType:
    others = [kind for kind in kinds if kind != "null"]
    if len(others) == 1:
        return _arrow_type(others[0], named)
    return raise_unsupported(
        f"an Avro union of {kinds} in Parquet",
        kind=Gap.NOT_YET,
        reason="a column has one type",
        instead="Use a union of null and one other type.",
    )


class AvroParquetOutput(AvroOutput):
    """Writes generic records to Parquet files."""

    def converter(self) -> Callable[[object], object]:
        schema = avro_arrow_schema(self.definition)
        names = schema.names
        converters = column_converters(schema, to_arrow)
        required = [field.name for field in schema if not field.nullable]

        def convert(record: Any) -> tuple[object, ...]:
            for name in required:
                if record[name] is None:
                    raise ValueError(f"field {name!r} of an Avro record is None: {record!r:.200}")
            values = [record.get(name) for name in names]
            for index, one in converters:
                values[index] = one(values[index])
            return tuple(values)

        return convert

    def open(self, file: BinaryIO) -> OutputFileWriter:
        return ParquetFileWriter(file, avro_arrow_schema(self.definition), _INT64_TIMESTAMPS)


class AvroParquetInput(AvroInput):
    """Reads generic records of Parquet files."""

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        return (bundle for bundle, _ in self.resume(split, None))

    def resume(self, split: FileSplit, position: int | None) -> Iterator[tuple[Bundle, int]]:
        """Yield records from a position on, which is the number of records before it."""
        schema = avro_arrow_schema(self._definition)
        names = schema.names
        converters = column_converters(schema, _plain)
        read = position or 0
        with reading(split.path):
            for batch in batches(split.path, schema, BUNDLE_SIZE, read, most=self.most):
                columns = [column.to_pylist() for column in batch.columns]
                for index, convert in converters:
                    columns[index] = list(map(convert, columns[index]))
                records = [dict(zip(names, values)) for values in zip(*columns)]
                read += len(records)
                yield Bundle(records), read


def _plain(kind: pa.DataType) -> Callable[[object], object] | None:
    return from_arrow(kind, structs_as_rows=False)
