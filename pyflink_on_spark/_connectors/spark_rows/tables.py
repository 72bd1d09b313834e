"""Tables of Spark's metastore as sources and sinks: Spark reads and writes them through files."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._compat.errors import CheckpointError, PyFlinkOnSparkError
from pyflink_on_spark._connectors.spark_rows.sink import (
    BatchColumns,
    HandOver,
    StagedSink,
    StagingPlace,
)
from pyflink_on_spark._connectors.spark_rows.source import Stage, StagedRows, own_folder
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    import pyarrow as pa

    from pyflink_on_spark._runtime.contract.connector import Sink
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

Place = Callable[[Mapping[str, str]], StagingPlace]


class MetastoreError(PyFlinkOnSparkError):
    """Spark's metastore cannot be asked, or refuses something."""


@dataclass(frozen=True)
class TableFacts:
    """A table as the metastore has it.

    Args:
        columns: the fields of the JSON of Spark's schema; partition columns are the last ones.
        properties: those of the table, and what Spark adds to them.
        partition_by: the names of the columns that partitions are made of.
    """

    columns: list[dict[str, Any]]
    properties: dict[str, str]
    partition_by: tuple[str, ...]

    @property
    def is_view(self) -> bool:
        """True for a view of Spark or Hive."""
        return self.properties.get("table_type") == "VIEW"


class TableColumns(BatchColumns, Protocol):
    """Converts between rows of tables and batches of Arrow. Picklable."""

    def rows(self, batch: pa.RecordBatch) -> list[object]:
        """Return the rows of a batch that Spark has written."""
        ...


class StagedTable(StagedRows):
    """Reads a table that Spark has copied into files when the job begins.

    Args:
        place: returns where the files are for the configuration of a job.
        columns: converts the batches of the files.
        stage: makes Spark write the files.
    """

    def __init__(self, place: Place, columns: TableColumns, stage: Stage) -> None:
        super().__init__("", False, Types.ROW([]), True, stage)
        self._place: Place | None = place
        self._columns = columns

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_place": None}

    def with_configuration(self, configuration: Mapping[str, str]) -> StagedTable:
        """Return this source for one run of a job."""
        assert self._place is not None
        place = self._place(configuration)
        own: StagedTable = copy.copy(self)
        own._stage, own._place = self._stage, self._place
        own._folder, own._stays_if_resumable = own_folder(place.path), place.stays
        return own

    def read(self, split: str, context: OperatorContext) -> Iterator[Bundle]:
        """Yield the rows of a file."""
        from pyarrow import parquet

        with parquet.ParquetFile(split) as opened:
            for batch in opened.iter_batches(BUNDLE_SIZE):
                yield Bundle(self._columns.rows(batch))


class StagedTableSink(StagedSink):
    """Hands the rows of each checkpoint over to Spark, which writes them into a table.

    Args:
        place: returns where the files are for the configuration of a job.
        columns: makes batches of rows.
        hand_over: makes Spark write the files into the table.
        overwrite: whether a run without rows is handed over, too.
    """

    def __init__(
        self, place: Place, columns: TableColumns, hand_over: HandOver, *, overwrite: bool
    ) -> None:
        super().__init__(place, hand_over)
        self._columns, self._overwrite = columns, overwrite

    def with_input_type(self, type_info: object) -> Sink:
        """Return this sink: its columns are known."""
        return self

    def check_durable(self) -> None:
        """Raise if rows are staged where they do not outlive the process."""
        if not self._stays:
            raise CheckpointError(
                "rows for a table of Hive are staged in a temporary folder, which this process "
                "removes, so that a checkpoint would name missing files: keep checkpoints in a "
                "local folder (execution.checkpointing.dir), which all machines see"
            )

    def commit(self, committables: list[Any]) -> None:
        """Hand over what was not handed over.

        Raises:
            MetastoreError: Spark refuses the rows.
        """
        if committables or not self._overwrite:
            super().commit(committables)
        else:
            assert self._hand_over is not None
            self._hand_over([], 0)
