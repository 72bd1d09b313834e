"""The source of an Iceberg table, and the reader of its data files."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyflink_on_spark._connectors.iceberg.client import (
    IcebergStart,
    IcebergTableConfig,
    SnapshotsConfig,
    asking,
    open_table,
    package,
)
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyiceberg.table import FileScanTask, Table

    from pyflink_on_spark._runtime.contract.operator import OperatorContext


_LOG = logging.getLogger("pyflink_on_spark")
# A replacement by the same rows in other files has nothing to read.
_READ_ON = ("append", "replace")


def batches_of(table: Table, task: FileScanTask, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a data file, without the rows that were deleted.

    Args:
        table: the table.
        task: the file.
        names: the wanted columns, in their order.
    """
    arrow = package("pyiceberg.io.pyarrow")
    expressions = package("pyiceberg.expressions")
    wanted = table.schema().select(*names)
    scan = arrow.ArrowScan(table.metadata, table.io, wanted, expressions.AlwaysTrue())
    # The public method of the scan reads a file as a whole before it gives the first batch.
    deletes = arrow._read_all_delete_files(table.io, [task])  # noqa: SLF001
    batches = scan._record_batches_from_scan_tasks_and_deletes([task], deletes)  # noqa: SLF001
    for batch in batches:
        yield batch.select(list(names))


@dataclass(frozen=True)
class SnapshotPosition:
    """The position of a reader of new snapshots.

    Args:
        snapshot: the number of the newest snapshot whose files were found; None for no snapshot.
        files: those of them that are not read to their end.
        rows: how many rows of the first file are read.
    """

    snapshot: int | None
    files: tuple[FileScanTask, ...]
    rows: int


class SnapshotReader(SourceReader):
    """Reads the files of a table, then those that later snapshots append.

    Snapshots that replace or delete files are passed over: only appended rows can be read on.

    Args:
        config: the table.
        snapshots: where to begin, and how often to look.
        position: where to continue, or None.
        now: returns the processing time in ms.
    """

    def __init__(
        self,
        config: IcebergTableConfig,
        snapshots: SnapshotsConfig,
        position: SnapshotPosition | None,
        now: Callable[[], int],
    ) -> None:
        self._config, self._snapshots, self._now = config, snapshots, now
        self._table: Table | None = None
        self._begun = position is not None
        self._snapshot = position.snapshot if position else None
        self._files: deque[FileScanTask] = deque(position.files if position else ())
        self._rows = position.rows if position else 0
        self._skip = self._rows
        self._batches: Iterator[pa.RecordBatch] | None = None
        self._batch: pa.RecordBatch | None = None
        self._next_look = now()

    def poll(self) -> Bundle | None:
        """Return the next rows."""
        with asking(f"the Iceberg table {self._config.place}"):
            if not self._files and not self._look():
                return None
            return self._next_rows()

    def snapshot(self) -> list[SnapshotPosition]:
        """Return the position, unless nothing was looked for yet."""
        if not self._begun:
            return []
        return [SnapshotPosition(self._snapshot, tuple(self._files), self._rows)]

    def backlog(self) -> int | None:
        """Return the number of rows in the files that are known."""
        return sum(task.file.record_count for task in self._files) - self._rows

    def _next_rows(self) -> Bundle | None:
        batch = self._batch
        if batch is None or not batch.num_rows:
            batch = self._next_batch()
            if batch is None:
                self._files.popleft()
                self._batches, self._rows = None, 0
                return None
        taken = min(self.limit, batch.num_rows)
        rows = self._config.rows.rows(batch.slice(0, taken))
        self._batch = batch.slice(taken)
        self._rows += taken
        return Bundle(rows)

    def _next_batch(self) -> pa.RecordBatch | None:
        if self._batches is None:
            if self._table is None:
                self._table = open_table(self._config)
            self._batches = batches_of(self._table, self._files[0], self._config.rows.names)
        for batch in self._batches:
            skipped = min(self._skip, batch.num_rows)
            self._skip -= skipped
            if skipped < batch.num_rows:
                return batch.slice(skipped)
        return None

    def _look(self) -> bool:
        """Look for files of new snapshots, if it is time to; tell whether there are any."""
        now = self._now()
        if now < self._next_look:
            return False
        self._next_look = now + self._snapshots.interval
        table = self._table = open_table(self._config)
        if not self._begun:
            self._begin(table)
        else:
            self._continue(table)
        return bool(self._files)

    def _begin(self, table: Table) -> None:
        current, start = table.current_snapshot(), self._snapshots.start
        self._begun = True
        if start is IcebergStart.SNAPSHOT:
            self._snapshot = self._snapshots.snapshot
            self._continue(table)
        elif current is None:
            return
        elif start is IcebergStart.TABLE:
            self._files.extend(table.scan(snapshot_id=current.snapshot_id).plan_files())
            self._snapshot = current.snapshot_id
        elif start is IcebergStart.LATEST:
            self._snapshot = current.parent_snapshot_id
            self._continue(table)
        else:
            self._continue(table)

    def _continue(self, table: Table) -> None:
        current = table.current_snapshot()
        if current is None or current.snapshot_id == self._snapshot:
            return
        snapshots = package("pyiceberg.table.snapshots")
        between = snapshots.ancestors_between_ids(
            self._snapshot, current.snapshot_id, table.metadata
        )
        passed = [
            each.snapshot_id
            for each in between
            if each.summary is None or each.summary.operation.value not in _READ_ON
        ]
        if passed:
            _LOG.warning(
                "The snapshots %s of the Iceberg table %s replace or delete rows. The job passes "
                "them over: it reads rows that are appended.",
                ", ".join(map(str, reversed(passed))),
                self._config.place,
            )
        scan = table.incremental_append_scan().to_snapshot_id_inclusive(current.snapshot_id)
        if self._snapshot is not None:
            scan = scan.from_snapshot_id_exclusive(self._snapshot)
        self._files.extend(scan.plan_files())
        self._snapshot = current.snapshot_id


class _IcebergSource(Source):
    already_typed = True

    def __init__(self, config: IcebergTableConfig) -> None:
        self._config = config

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the rows, which are tuples."""
        return Types.PICKLED_BYTE_ARRAY()


class SnapshotSource(_IcebergSource):
    """Reads the rows that a table has in one snapshot. A split is a data file.

    A position is a number of rows of a file.

    Args:
        config: the table.
        snapshot: the number of the snapshot; None for the current one.
    """

    bounded = True

    def __init__(self, config: IcebergTableConfig, snapshot: int | None) -> None:
        super().__init__(config)
        self._snapshot = snapshot

    def splits(self, parallelism: int) -> list[object]:
        """Return the files of the snapshot, with the files of their deleted rows.

        Raises:
            IcebergError: the table cannot be reached.
        """
        table = open_table(self._config)
        with asking(f"the Iceberg table {self._config.place}"):
            return list(table.scan(snapshot_id=self._snapshot).plan_files())

    def read(self, split: FileScanTask, context: OperatorContext) -> Iterator[Bundle]:
        """Yield the rows of a file."""
        table, rows = open_table(self._config), self._config.rows
        with asking(f"the Iceberg table {self._config.place}"):
            for batch in batches_of(table, split, rows.names):
                for start in range(0, batch.num_rows, BUNDLE_SIZE):
                    yield Bundle(rows.rows(batch.slice(start, BUNDLE_SIZE)))


class NewSnapshotsSource(_IcebergSource):
    """Reads a table, then the rows that new snapshots append, in one subtask.

    Args:
        config: the table.
        snapshots: the settings of the reader.
    """

    bounded = False
    parallel = False

    def __init__(self, config: IcebergTableConfig, snapshots: SnapshotsConfig) -> None:
        super().__init__(config)
        self._snapshots = snapshots

    def splits(self, parallelism: int) -> list[object]:
        """Return the one split.

        Raises:
            ModuleNotFoundError: pyiceberg is not installed.
        """
        package("pyiceberg.table")
        return [self._snapshots]

    def reader(
        self, splits: Sequence[object], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return the reader."""
        position = restored[0] if restored else None
        return SnapshotReader(self._config, self._snapshots, position, context.clock.now)
