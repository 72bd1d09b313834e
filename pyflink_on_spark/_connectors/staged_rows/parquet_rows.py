"""Reads rows of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common.types import Row


def rows_of_file(file: str) -> Iterator[Bundle]:
    """Yield the rows of a Parquet file."""
    from pyarrow import parquet

    with parquet.ParquetFile(file) as opened:
        for batch in opened.iter_batches(BUNDLE_SIZE):
            names = batch.schema.names
            columns = [column.to_pylist() for column in batch.columns]
            rows = []
            for values in zip(*columns, strict=True):
                row = Row(*map(_value, values))
                row.set_field_names(names)
                rows.append(row)
            yield Bundle(rows)


def rows_of_files(files: Sequence[str]) -> Iterator[Bundle]:
    """Yield the rows of several Parquet files."""
    for file in files:
        yield from rows_of_file(file)


def _value(value: Any) -> Any:
    if type(value) is dict:
        row = Row(*map(_value, value.values()))
        row.set_field_names(list(value))
        return row
    if type(value) is list:
        if value and all(type(entry) is tuple and len(entry) == 2 for entry in value):
            return {key: _value(entry) for key, entry in value}
        return list(map(_value, value))
    return value
