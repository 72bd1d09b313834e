"""Comma-separated values, in files and as messages."""

from __future__ import annotations

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
