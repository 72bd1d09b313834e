"""The sink of Iceberg tables, which makes a snapshot with each checkpoint."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyflink_on_spark._connectors.iceberg.client import (
    IcebergError,
    IcebergTableConfig,
    asking,
    open_table,
    package,
)
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table

    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_CHUNK = 8192
_FLUSH_BYTES = 128 * 1024 * 1024
COMMITS = "parts-of-pyflink-on-spark"
"""The property of a snapshot that has the numbers of its committables."""


@dataclass(frozen=True)
class FilesOfCheckpoint:
    """The data files that one subtask has written: the committable of the sink.

    Args:
        number: its unique number, which the snapshot has.
        files: the fields of each, by name.
        partition_spec: the number of the table's partitioning that the files have.
    """

    number: str
    files: tuple[dict[str, Any], ...]
    partition_spec: int


class IcebergSink(Sink):
    """Appends rows to a table, or replaces its rows.

    The files of a checkpoint become one snapshot when it is complete. The snapshot has the numbers
    of the committables, so that a repeated commit finds them.

    Args:
        config: the table.
        overwrite: whether the rows replace those of the table, or of the partitions that they have.
    """

    flink_commits = True

    def __init__(self, config: IcebergTableConfig, *, overwrite: bool = False) -> None:
        self._config, self._overwrite = config, overwrite

    def writer(self, context: OperatorContext) -> SinkWriter:
        return IcebergWriter(self._config)

    def commit(self, committables: list[FilesOfCheckpoint]) -> None:
        """Make a snapshot of the files that no snapshot has.

        pyiceberg tries again beside other writers, as the table's ``commit.retry...`` say.

        Raises:
            IcebergError: the table cannot be reached, or others changed it again and again.
        """
        if not committables and not self._overwrite:
            return
        table = open_table(self._config)
        with asking(f"the Iceberg table {self._config.place}"):
            self._commit(table, committables)

    def abort(self, committables: list[FilesOfCheckpoint]) -> None:
        """Remove the files."""
        if committables:
            table = open_table(self._config)
            with asking(f"the Iceberg table {self._config.place}"):
                for committable in committables:
                    for fields in committable.files:
                        table.io.delete(fields["file_path"])

    def _commit(self, table: Table, committables: Sequence[FilesOfCheckpoint]) -> None:
        done = _numbers(table)
        missing = [each for each in committables if each.number not in done]
        if committables and not missing:
            return
        spec = table.metadata.default_spec_id
        if any(each.partition_spec != spec for each in missing):
            raise IcebergError(
                f"the partitions of the Iceberg table {self._config.place} were changed while the "
                "job wrote: start it again from its last checkpoint but one"
            )
        files = [_data_file(f, spec) for each in missing for f in each.files]
        numbers = {COMMITS: ",".join(each.number for each in missing)}
        with table.transaction() as transaction:
            if self._overwrite:
                transaction.delete(_replaced(table, files))
            if files:
                update = transaction.update_snapshot(snapshot_properties=numbers)
                with update.fast_append() as append:
                    for file in files:
                        append.append_data_file(file)


def _numbers(table: Table) -> set[str]:
    found: set[str] = set()
    for snapshot in table.metadata.snapshots:
        if snapshot.summary is not None:
            numbers = snapshot.summary.additional_properties.get(COMMITS, "")
            found.update(numbers.split(","))
    return found


def _replaced(table: Table, files: Sequence[DataFile]) -> Any:
    """Return the condition of the rows that are replaced: all, or those of some partitions."""
    of = package("pyiceberg.expressions")
    spec = table.spec()
    if spec.is_unpartitioned():
        return of.AlwaysTrue()
    names = [str(table.schema().find_column_name(field.source_id)) for field in spec.fields]

    def same(name: str, value: object) -> object:
        return of.IsNull(name) if value is None else of.EqualTo(name, value)

    partitions = {tuple(file.partition[i] for i in range(len(names))) for file in files}
    wanted = [reduce(of.And, map(same, names, values)) for values in partitions]
    return reduce(of.Or, wanted, of.AlwaysFalse())


_FIELDS = (
    "content", "file_path", "file_format", "record_count", "file_size_in_bytes", "column_sizes",
    "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds",
    "key_metadata", "split_offsets", "equality_ids", "sort_order_id",
)  # fmt: skip


def _fields(file: DataFile) -> dict[str, object]:
    """Return the fields of a data file, in types that do not change with pyiceberg."""
    found = {name: getattr(file, name) for name in _FIELDS}
    found["content"] = int(found["content"])
    found["file_format"] = str(found["file_format"].value)
    found["partition"] = tuple(file.partition[i] for i in range(len(file.partition)))
    return found


def _data_file(fields: dict[str, Any], partition_spec: int) -> DataFile:
    manifest = package("pyiceberg.manifest")
    record = package("pyiceberg.typedef").Record
    given = {
        **fields,
        "content": manifest.DataFileContent(fields["content"]),
        "file_format": manifest.FileFormat(fields["file_format"]),
        "partition": record(*fields["partition"]),
    }
    file: DataFile = manifest.DataFile.from_args(**given)
    file.spec_id = partition_spec
    return file


class IcebergWriter(SinkWriter):
    """Writes rows to Parquet files in the folder of a table.

    Args:
        config: the table.
    """

    def __init__(self, config: IcebergTableConfig) -> None:
        self._config = config
        self._table: Table | None = None
        self._rows: list[object] = []
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0
        self._files: list[dict[str, Any]] = []

    def write(self, elements: Iterator[object]) -> None:
        while taken := list(islice(elements, _CHUNK - len(self._rows))):
            self._rows += taken
            if len(self._rows) == _CHUNK:
                self._pack()

    def prepare_commit(self) -> list[FilesOfCheckpoint]:
        if self._rows:
            self._pack()
        self._flush()
        files, self._files = self._files, []
        if not files:
            return []
        assert self._table is not None
        # The next checkpoint writes with the columns and partitions that the table has then.
        spec, self._table = self._table.metadata.default_spec_id, None
        return [FilesOfCheckpoint(str(uuid.uuid4()), tuple(files), spec)]

    def close(self) -> None:
        """Remove the files that are in no committable."""
        files, self._files = self._files, []
        if files:
            assert self._table is not None
            for fields in files:
                self._table.io.delete(fields["file_path"])

    def _pack(self) -> None:
        batch = self._config.rows.batch(self._rows)
        self._rows = []
        self._batches.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= _FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        if not self._batches:
            return
        arrow = package("pyiceberg.io.pyarrow")
        if self._table is None:
            self._table = open_table(self._config)
        table = self._table
        with asking(f"the Iceberg table {self._config.place}"):
            wanted = arrow.schema_to_pyarrow(
                table.schema().select(*self._config.rows.names), include_field_ids=False
            )
            ordered = pa.schema([wanted.field(name) for name in self._config.rows.names])
            columns = pa.Table.from_batches(self._batches).cast(ordered)
            # There is no public way to make data files that are not committed at once.
            write = arrow._dataframe_to_data_files  # noqa: SLF001
            made = write(table.metadata, columns, table.io)
            self._files += map(_fields, made)
        self._batches, self._bytes = [], 0
