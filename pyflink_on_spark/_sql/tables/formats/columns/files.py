"""Reads and writes files column by column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from pyflink_on_spark._connectors.formats.arrow_batches import reading
from pyflink_on_spark._connectors.formats.input_format import InputFileFormat
from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat
from pyflink_on_spark._runtime.elements.bundle import Bundle
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.tables.formats.columns.local_times import in_utc, in_zone
from pyflink_on_spark._sql.tables.formats.columns.values import batch_of, columns_schema, rows_of
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.input_format import FileSplit


class ColumnsInput(InputFileFormat):
    """Reads rows of files; a column that a file lacks is NULL.

    Args:
        schema: the columns.
        identifier: the format.
        local_times: whether timestamps are in UTC in files, and in the process's time zone here.
    """

    missing: ClassVar[frozenset[Root]] = frozenset()
    """The types that the format does not have."""

    def __init__(self, schema: Schema, identifier: str, *, local_times: bool) -> None:
        self._schema = schema
        self._arrow = columns_schema(schema, identifier, self.missing)
        self._moved = timestamp_columns(schema) if local_times else ()

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the rows, which are tuples."""
        return Types.PICKLED_BYTE_ARRAY()

    @abstractmethod
    def batches(self, path: str, schema: pa.Schema, skip: int) -> Iterator[pa.RecordBatch]:
        """Yield the columns of a file, without some rows at its beginning."""

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the rows."""
        return (bundle for bundle, _ in self.resume(split, None))

    def resume(self, split: FileSplit, position: int | None) -> Iterator[tuple[Bundle, int]]:
        """Yield rows from a position on, which is the number of rows before it."""
        read = position or 0
        with reading(split.path):
            for batch in self.batches(split.path, self._arrow, read):
                rows = rows_of(in_zone(batch, self._moved), self._schema.types)
                read += len(rows)
                yield Bundle(rows), read


class ColumnsOutput(OutputFileFormat):
    """Writes rows to files. A subclass opens the file.

    Args:
        schema: the columns.
        identifier: the format.
        local_times: whether timestamps are in UTC in files, and in the process's time zone here.
    """

    missing: ClassVar[frozenset[Root]] = frozenset()
    """The types that the format does not have."""

    def __init__(self, schema: Schema, identifier: str, *, local_times: bool) -> None:
        self._schema = schema
        self._arrow = columns_schema(schema, identifier, self.missing)
        self._moved = timestamp_columns(schema) if local_times else ()

    def check_input(self, type_info: Any) -> None:
        """Do nothing: the table has checked the columns."""

    def converter(self) -> Callable[[Any], Any]:
        """Return what leaves a row as it is."""
        return _same

    def columns(self, schema: pa.Schema, rows: list[Any]) -> pa.RecordBatch:
        """Return rows as a batch."""
        return in_utc(batch_of(rows, schema, self._schema.types), self._moved)


def timestamp_columns(schema: Schema) -> tuple[int, ...]:
    """Return the places of the columns of timestamps without a time zone."""
    return tuple(i for i, kind in enumerate(schema.types) if kind.root is Root.TIMESTAMP)


def _same(row: Any) -> Any:
    return row
