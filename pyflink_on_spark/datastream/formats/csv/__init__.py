"""CSV files and CSV messages."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.formats.csv.files import CsvBulkWriters, CsvReaderFormat
from pyflink_on_spark.datastream.formats.csv.messages import (
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
)
from pyflink_on_spark.datastream.formats.csv.schema import CsvSchema, CsvSchemaBuilder

__all__ = [
    "CsvSchema",
    "CsvSchemaBuilder",
    "CsvReaderFormat",
    "CsvBulkWriters",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
]

__getattr__ = missing_name(__name__)
