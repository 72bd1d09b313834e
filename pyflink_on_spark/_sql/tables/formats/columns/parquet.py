"""The format ``parquet``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from pyflink_on_spark._connectors.formats.parquet import ParquetFileWriter, batches
from pyflink_on_spark._connectors.formats.parquet_options import ParquetOptions
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.options import (
    Option,
    TableOptions,
    boolean,
    integer,
    one_of,
)
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.columns.files import ColumnsInput, ColumnsOutput
from pyflink_on_spark._sql.tables.formats.columns.values import columns_schema
from pyflink_on_spark._sql.tables.formats.format import FileFormat

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.output_format import OutputFileWriter

_UTC = Option("utc-timezone", boolean, default=False)
_BATCH_SIZE = Option("batch-size", integer, default=2048)
_INT64 = Option("write.int64.timestamp", boolean, default=False)
_UNIT = Option("timestamp.time.unit", one_of("millis", "micros", "nanos"), default="micros")


class ParquetFormat(FileFormat):
    """Parquet files."""

    identifier = "parquet"
    options = (_UTC, _BATCH_SIZE, _INT64, _UNIT)

    def file_input(self, schema: Schema, options: TableOptions, time_zone: str) -> ParquetInput:
        """Return what reads rows."""
        _writer_options(options)
        size = options[_BATCH_SIZE]
        assert size is not None
        return ParquetInput(schema, size, local_times=not options[_UTC])

    def file_output(self, schema: Schema, options: TableOptions, time_zone: str) -> ParquetOutput:
        """Return what writes rows."""
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
        return batches(path, schema, self._batch_size, skip)


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

    def columns(self, schema: pa.Schema, rows: list[Any]) -> pa.RecordBatch:
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
