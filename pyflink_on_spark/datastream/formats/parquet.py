"""Parquet files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.datastream.connectors._arguments import argument
from pyflink_on_spark.datastream.connectors.file_system import BulkFormat, StreamFormat
from pyflink_on_spark.datastream.formats._not_yet import format_gap
from pyflink_on_spark.datastream.formats.avro import AvroSchema
from pyflink_on_spark.table.types import RowType

__all__ = [
    "AvroParquetReaders",
    "AvroParquetWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetBulkWriters",
]


@dataclass(frozen=True)
class ParquetRecords:
    """Parquet files of Avro records.

    Attributes:
        schema: the records' schema.
    """

    schema: AvroSchema


@dataclass(frozen=True)
class ParquetRows:
    """Parquet files of rows.

    Attributes:
        row_type: the columns.
        hadoop_options: options of Hadoop's file systems and Parquet library.
        utc_timestamps: whether timestamps are in UTC; in the local time zone otherwise.
        batch_size: how many rows are read at a time.
        case_sensitive: whether upper and lower case differ in the names of columns.
    """

    row_type: RowType
    hadoop_options: dict[str, str]
    utc_timestamps: bool
    batch_size: int = 2048
    case_sensitive: bool = True


class AvroParquetReaders:
    """Makes what reads Avro records from Parquet files."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Read dicts, lists and plain values as an Avro schema says."""
        return _AvroParquetFormat(
            ParquetRecords(argument(schema, AvroSchema, "for_generic_record(schema)"))
        )


class AvroParquetWriters:
    """Makes what writes Avro records to Parquet files."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write dicts, lists and plain values as an Avro schema says."""
        given = argument(schema, AvroSchema, "for_generic_record(schema)")
        return BulkWriterFactory(ParquetRecords(given))


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads Parquet files, a row for each record.

    Args:
        row_type: the columns to read.
        hadoop_config: options of Hadoop's file systems and Parquet library.
        batch_size: how many rows are read at a time.
        is_utc_timestamp: whether timestamps are in UTC; in the local time zone otherwise.
        is_case_sensitive: whether upper and lower case differ in the names of columns.
    """

    _format = format_gap("Parquet files")

    def __init__(
        self,
        row_type: RowType,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ):
        call = "ParquetColumnarRowInputFormat(row_type, hadoop_config, batch_size, ...)"
        self._rows = ParquetRows(
            checked_row_type(row_type),
            options_of(hadoop_config, call),
            argument(is_utc_timestamp, bool, call),
            argument(batch_size, int, call),
            argument(is_case_sensitive, bool, call),
        )
        super().__init__(self._rows)


class ParquetBulkWriters:
    """Makes what writes rows to Parquet files."""

    @staticmethod
    def for_row_type(
        row_type: RowType, hadoop_config: Configuration | None = None, utc_timestamp: bool = False
    ) -> BulkWriterFactory:
        """Write rows to files with these columns.

        Args:
            row_type: the columns.
            hadoop_config: options of Hadoop's file systems and Parquet library.
            utc_timestamp: whether timestamps are in UTC; in the local time zone otherwise.
        """
        call = "for_row_type(row_type, hadoop_config, utc_timestamp)"
        utc = argument(utc_timestamp, bool, call)
        rows = ParquetRows(checked_row_type(row_type), options_of(hadoop_config, call), utc)
        return RowDataBulkWriterFactory(rows, row_type)


class _AvroParquetFormat(StreamFormat):
    _format = format_gap("Parquet files")

    def __init__(self, records: ParquetRecords) -> None:
        self._records = records
        super().__init__(records)


def checked_row_type(row_type: Any) -> RowType:
    """Return a row type; raise TypeError if it is none."""
    if not isinstance(row_type, RowType):
        raise TypeError("row_type must be an instance of RowType")
    return row_type


def options_of(configuration: Configuration | None, call: str) -> dict[str, str]:
    """Return the options of a configuration, which may be left out."""
    if configuration is None:
        return {}
    return argument(configuration, Configuration, call).to_dict()


__getattr__ = missing_name(__name__)
