"""CSV files as sources and sinks."""

from __future__ import annotations

from pyflink_on_spark._connectors.formats.csv_files import CsvFileInput, CsvFileOutput
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.datastream.connectors._arguments import argument
from pyflink_on_spark.datastream.connectors.file_system import StreamFormat
from pyflink_on_spark.datastream.formats.csv.schema import CsvSchema


class CsvReaderFormat(StreamFormat):
    """Reads a row from each record of CSV files; made with ``for_schema``.

    Args:
        j_csv_format: the schema.
    """

    def __init__(self, j_csv_format):
        self._schema = own_handle(j_csv_format, CsvSchema, "CsvReaderFormat(j_csv_format)")
        super().__init__(CsvFileInput(self._schema._file_settings()))

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Read files with these columns."""
        return CsvReaderFormat(argument(schema, CsvSchema, "for_schema(schema)"))


class CsvBulkWriters:
    """Factories of writers of CSV files."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Write rows to files with these columns."""
        given = argument(schema, CsvSchema, "for_schema(schema)")
        return RowDataBulkWriterFactory(CsvFileOutput(given._file_settings()), given._row_type)
