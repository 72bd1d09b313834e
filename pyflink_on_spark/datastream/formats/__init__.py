"""File formats and message formats: CSV, JSON, Avro, Parquet, ORC."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name

__getattr__ = missing_name(__name__)
