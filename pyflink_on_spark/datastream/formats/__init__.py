"""File formats and message formats: CSV, JSON, Avro, Parquet, ORC."""

from __future__ import annotations
