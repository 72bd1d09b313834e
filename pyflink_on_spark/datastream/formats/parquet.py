"""Parquet files."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.formats.parquet import (
    AvroParquetInput,
    AvroParquetOutput,
    ParquetFileInput,
    ParquetFileOutput,
    ParquetOptions,
    refuse_option,
)
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.data_types import RowType
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.datastream.connectors._arguments import argument
from pyflink_on_spark.datastream.connectors.file_system import BulkFormat, StreamFormat
from pyflink_on_spark.datastream.formats.avro import (
    AvroSchema,
    GenericRecordAvroTypeInfo,
    definition_of,
)

__all__ = [
    "AvroParquetReaders",
    "AvroParquetWriters",
    "ParquetColumnarRowInputFormat",
    "ParquetBulkWriters",
]


class AvroParquetReaders:
    """Factories of formats that read generic records of Parquet files."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Read generic records."""
        given = argument(schema, AvroSchema, "for_generic_record(schema)")
        records = AvroParquetInput(definition_of(given), GenericRecordAvroTypeInfo(given))
        return StreamFormat(records)


class AvroParquetWriters:
    """Factories of writers of Parquet files with generic records."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write generic records."""
        given = argument(schema, AvroSchema, "for_generic_record(schema)")
        return BulkWriterFactory(AvroParquetOutput(definition_of(given)))


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads a row from each record of Parquet files.

    Args:
        row_type: the columns to read.
        hadoop_config: options of Hadoop's file systems and Parquet library.
        batch_size: the number of rows to read at a time.
        is_utc_timestamp: whether timestamps are in UTC; otherwise in the local time zone.
        is_case_sensitive: whether the names of columns are case-sensitive.

    Example::

        row_type = DataTypes.ROW([DataTypes.FIELD("name", DataTypes.STRING())])
        rows = ParquetColumnarRowInputFormat(row_type, is_utc_timestamp=True)
        source = FileSource.for_bulk_file_format(rows, "people.parquet").build()
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
        rows = ParquetFileInput(
            checked_row_type(row_type),
            argument(batch_size, int, call),
            utc_timestamps=argument(is_utc_timestamp, bool, call),
            case_sensitive=argument(is_case_sensitive, bool, call),
        )
        super().__init__(rows)


class ParquetBulkWriters:
    """Factories of writers of Parquet files with rows."""

    @staticmethod
    def for_row_type(
        row_type: RowType, hadoop_config: Configuration | None = None, utc_timestamp: bool = False
    ) -> BulkWriterFactory:
        """Write rows.

        Args:
            row_type: the columns.
            hadoop_config: options of Hadoop's file systems and Parquet library.
            utc_timestamp: whether timestamps are in UTC; otherwise in the local time zone.
        """
        call = "for_row_type(row_type, hadoop_config, utc_timestamp)"
        utc = argument(utc_timestamp, bool, call)
        options = ParquetOptions.of(options_of(hadoop_config, call))
        rows = ParquetFileOutput(checked_row_type(row_type), utc, options)
        return RowDataBulkWriterFactory(rows, row_type)


def checked_row_type(row_type: object) -> RowType:
    """Return the row type, or raise TypeError if it is not one."""
    if not isinstance(row_type, RowType):
        raise TypeError("row_type must be an instance of RowType")
    return row_type


def options_of(configuration: Configuration | None, call: str) -> dict[str, str]:
    """Return the options of a configuration, which may be None."""
    if configuration is None:
        return {}
    return argument(configuration, Configuration, call).to_dict()


__getattr__ = missing_name(__name__)
