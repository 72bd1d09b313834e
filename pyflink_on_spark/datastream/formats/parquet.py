"""Parquet files."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.formats.avro_parquet import AvroParquetOutput, AvroParquetRecords
from pyflink_on_spark._connectors.formats.parquet import ParquetRowOutput, ParquetRows
from pyflink_on_spark._connectors.formats.parquet_options import ParquetOptions, refuse_option
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.data_types import RowType
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.datastream.connectors._arguments import argument
from pyflink_on_spark.datastream.connectors.file_system import BulkFormat, StreamFormat
from pyflink_on_spark.datastream.formats.avro import AvroSchema, GenericRecordAvroTypeInfo

__all__ = [
    "AvroParquetReaders",
    "AvroParquetWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetBulkWriters",
]


class AvroParquetReaders:
    """Makes what reads Avro records from Parquet files."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Read dicts, lists and plain values as an Avro schema says."""
        given = argument(schema, AvroSchema, "for_generic_record(schema)")
        records = AvroParquetRecords(given._definition, GenericRecordAvroTypeInfo(given))
        return StreamFormat(records)


class AvroParquetWriters:
    """Makes what writes Avro records to Parquet files."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write dicts, lists and plain values as an Avro schema says."""
        given = argument(schema, AvroSchema, "for_generic_record(schema)")
        return BulkWriterFactory(AvroParquetOutput(given._definition))


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads Parquet files, a row for each record.

    Args:
        row_type: the columns to read.
        hadoop_config: options of Hadoop's file systems and Parquet library.
        batch_size: how many rows are read at a time.
        is_utc_timestamp: whether timestamps are in UTC; in the local time zone otherwise.
        is_case_sensitive: whether upper and lower case differ in the names of columns.
    """

    def __init__(
        self,
        row_type: RowType,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ):
        call = "ParquetColumnarRowInputFormat(row_type, hadoop_config, batch_size, ...)"
        for name in options_of(hadoop_config, call):
            refuse_option(name, "Parquet's reader")
        rows = ParquetRows(
            checked_row_type(row_type),
            argument(batch_size, int, call),
            utc_timestamps=argument(is_utc_timestamp, bool, call),
            case_sensitive=argument(is_case_sensitive, bool, call),
        )
        super().__init__(rows)


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
        options = ParquetOptions.of(options_of(hadoop_config, call))
        rows = ParquetRowOutput(checked_row_type(row_type), utc, options)
        return RowDataBulkWriterFactory(rows, row_type)


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
