"""CSV files as sources and sinks."""

from __future__ import annotations

from pyflink_on_spark._connectors.formats.csv_files import CsvFileOutput, CsvRows
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.datastream.connectors._arguments import argument
from pyflink_on_spark.datastream.connectors.file_system import StreamFormat
from pyflink_on_spark.datastream.formats.csv.schema import CsvSchema


class CsvReaderFormat(StreamFormat):
    """Reads CSV files, a row for each line; made with ``for_schema``.

    Args:
        j_csv_format: the schema.
    """

    def __init__(self, j_csv_format):
        self._schema = own_handle(j_csv_format, CsvSchema, "CsvReaderFormat(j_csv_format)")
        super().__init__(CsvRows(self._schema._form()))

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Read files with these columns."""
        return CsvReaderFormat(argument(schema, CsvSchema, "for_schema(schema)"))


class CsvBulkWriters:
    """Makes what writes CSV files."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Write rows to files with these columns."""
        given = argument(schema, CsvSchema, "for_schema(schema)")
        return RowDataBulkWriterFactory(CsvFileOutput(given._form()), given._row_type)
