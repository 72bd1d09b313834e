"""Sources of the rows of Iceberg tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.iceberg.client import asking, open_table, package
from pyflink_on_spark._connectors.iceberg.config import IcebergTableConfig, SnapshotsConfig
from pyflink_on_spark._connectors.iceberg.reader import SnapshotReader, batches_of
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


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

    def splits(self, parallelism: int) -> list[Any]:
        """Return the files of the snapshot, with the files of their deleted rows.

        Raises:
            IcebergError: the table cannot be reached.
        """
        table = open_table(self._config)
        with asking(f"the Iceberg table {self._config.place}"):
            return list(table.scan(snapshot_id=self._snapshot).plan_files())

    def read(self, split: Any, context: OperatorContext) -> Iterator[Bundle]:
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

    def splits(self, parallelism: int) -> list[Any]:
        """Return the one split.

        Raises:
            ModuleNotFoundError: pyiceberg is not installed.
        """
        package("pyiceberg.table")
        return [self._snapshots]

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return the reader."""
        position = restored[0] if restored else None
        return SnapshotReader(self._config, self._snapshots, position, context.clock.now)
