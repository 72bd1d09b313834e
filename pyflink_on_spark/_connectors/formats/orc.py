"""ORC files of rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
from pyarrow import orc

from pyflink_on_spark._connectors.formats.compression import check_size
from pyflink_on_spark._connectors.formats.file_format import (
    ArrowFileWriter,
    OutputFileFormat,
    OutputFileWriter,
    check_rows,
)
from pyflink_on_spark._connectors.formats.parquet import refuse_option
from pyflink_on_spark._connectors.formats.row_types import (
    Columns,
    arrow_schema,
    columns_of,
    record_batch,
    row_values,
    with_schema,
)
from pyflink_on_spark._filesystem.local_files import source_of
from pyflink_on_spark.common.data_types import RowType

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation


_CHUNK_ROWS = 8192
_CODECS = {"NONE": "uncompressed", "ZLIB": "zlib", "SNAPPY": "snappy", "LZ4": "lz4", "ZSTD": "zstd"}
_SIZES = {
    "orc.stripe.size": "stripe_size",
    "orc.compress.size": "compression_block_size",
    "orc.row.index.stride": "row_index_stride",
}


class OrcFileWriter(ArrowFileWriter):
    """Writes converted rows to an ORC file.

    Args:
        file: the file.
        schema: the columns.
        arguments: the arguments of Arrow's writer.
        columns: makes a batch of the schema and the rows.
    """

    def __init__(
        self,
        file: BinaryIO,
        schema: pa.Schema,
        arguments: dict[str, object],
        columns: Columns = record_batch,
    ) -> None:
        self._schema, self._columns = schema, columns
        self._rows: list[object] = []
        self._writer = orc.ORCWriter(file, **arguments)
        self._empty = True

    def write(self, elements: Sequence[object]) -> None:
        self._rows += elements
        if len(self._rows) >= _CHUNK_ROWS:
            self._write_rows()

    def finish(self) -> None:
        if self._rows or self._empty:
            self._write_rows()
        self._writer.close()

    def _write_rows(self) -> None:
        batches = [self._columns(self._schema, self._rows)] if self._rows else []
        self._writer.write(pa.Table.from_batches(batches, self._schema))
        self._rows, self._empty = [], False


@dataclass(frozen=True)
class OrcFileOutput(OutputFileFormat):
    """Writes rows to ORC files.

    Args:
        row_type: the columns.
        arguments: the arguments of Arrow's writer; see ``orc_arguments``.
    """

    row_type: RowType
    arguments: dict[str, object]

    def check_input(self, type_info: TypeInformation | None) -> None:
        check_rows(type_info)

    def converter(self) -> Callable[[object], object]:
        return row_values(arrow_schema(self.row_type))

    def open(self, file: BinaryIO) -> OutputFileWriter:
        return OrcFileWriter(file, arrow_schema(self.row_type), self.arguments)


def orc_batches(
    path: str, schema: pa.Schema, skip: int = 0, most: int = sys.maxsize
) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a schema from a file; a column that the file lacks is null.

    Args:
        path: the file.
        schema: the columns and their types.
        skip: the number of rows to skip at the beginning.
        most: how many bytes a compressed block may have after decompression.

    Raises:
        TooLargeError: the file says that its blocks have more.
    """
    file = orc.ORCFile(source_of(path))
    check_size("a compressed block", file.compression_size, most)
    found = columns_of(file.schema, schema, case_sensitive=True)
    names = [name for name in found if name is not None]
    for stripe in range(file.nstripes):
        batch = file.read_stripe(stripe, columns=names)
        skipped = min(skip, batch.num_rows)
        skip -= skipped
        if skipped < batch.num_rows:
            yield with_schema(batch.slice(skipped), schema, found)


def orc_arguments(properties: dict[str, str]) -> dict[str, object]:
    """Return the arguments of Arrow's writer that correspond to options of ORC.

    Raises:
        ValueError: an option has an invalid value.
        UnsupportedFlinkFeature: an option has no counterpart.
    """
    arguments: dict[str, object] = {"compression": "zlib"}
    for name, text in properties.items():
        if name == "orc.compress":
            if text.upper() not in _CODECS:
                raise ValueError(f"orc.compress is one of {', '.join(_CODECS)}, not {text!r}")
            arguments["compression"] = _CODECS[text.upper()]
        elif name in _SIZES:
            arguments[_SIZES[name]] = int(text)
        else:
            refuse_option(name, "ORC's writer")
    return arguments
