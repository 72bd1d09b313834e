"""The common part of readers of columns: the wanted columns among those in a file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from pyflink_on_spark._connectors.formats.corrupt import CorruptRecordError

Columns = Callable[[pa.Schema, list[Any]], pa.RecordBatch]
"""Makes a batch of a schema and of rows."""


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Add the path of a damaged file to Arrow's errors.

    Raises:
        CorruptRecordError: instead of Arrow's errors.
    """
    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise CorruptRecordError(f"cannot read {path}: {error}") from error


def columns_of(available: pa.Schema, wanted: pa.Schema, case_sensitive: bool) -> list[str | None]:
    """Return the names of a schema's columns in a file; None for a column that the file lacks.

    Raises:
        ValueError: the case of letters does not count, and a name fits two columns.
    """
    if case_sensitive:
        return [name if name in available.names else None for name in wanted.names]
    lower: dict[str, str] = {}
    for name in available.names:
        if name.lower() in lower and name.lower() in map(str.lower, wanted.names):
            raise ValueError(
                f"the columns {lower[name.lower()]!r} and {name!r} differ only in case"
            )
        lower[name.lower()] = name
    return [lower.get(name.lower()) for name in wanted.names]


def with_schema(
    batch: pa.RecordBatch, schema: pa.Schema, found: Sequence[str | None]
) -> pa.RecordBatch:
    """Return the columns of a batch as a schema wants them; a missing one is null.

    Args:
        batch: what was read.
        schema: the columns and their types.
        found: what the file calls them.

    Raises:
        ValueError: a column has a type that cannot be converted.
    """
    columns = []
    for one, name in zip(schema, found):
        if name is None:
            columns.append(pa.nulls(batch.num_rows, one.type))
            continue
        column = batch.column(batch.schema.get_field_index(name))
        columns.append(column if column.type == one.type else _cast(column, one))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: pa.Array, wanted: pa.Field) -> pa.Array:
    try:
        if pa.types.is_timestamp(wanted.type):
            return column.cast(wanted.type, safe=False)
        return column.cast(wanted.type)
    except pa.ArrowException as error:
        raise ValueError(
            f"column {wanted.name!r} is of type {column.type}, not {wanted.type}: {error}"
        ) from error
