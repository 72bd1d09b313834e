"""The source that reads staged files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._runtime.connector import Source, SourceReader, SplitReader
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

Stage = Callable[[str], Callable[[], None]]
_BATCH = re.compile(r"batch-(\d+)$")


class StagedRows(Source):
    """Reads what Spark writes into a folder: a sub-folder of Parquet files for each batch.

    Args:
        folder: the folder; on a cluster one that all workers reach.
        produced_type: the type of the rows.
        bounded: whether there is one batch only, number 0.
        stage: makes Spark write into a folder; returns what ends that. For the driver only: it
            does not travel.
    """

    def __init__(
        self, folder: str, produced_type: TypeInformation, bounded: bool, stage: Stage
    ) -> None:
        self.folder, self.produced_type, self.bounded = folder, produced_type, bounded
        self._stage: Stage | None = stage
        self._unstage: Callable[[], None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_stage": None, "_unstage": None}

    def splits(self, parallelism: int) -> list[str]:
        """Let Spark begin; return the files, if they are known."""
        assert self._stage is not None
        self._unstage = self._stage(self.folder)
        return files_of_batch(self.folder, 0) if self.bounded else []

    def job_ended(self) -> None:
        """Let Spark end."""
        if self._unstage is not None:
            self._unstage()
            self._unstage = None

    def read(self, split: str, context: OperatorContext) -> Iterator[Bundle]:
        """Yield the rows of a file."""
        return read_rows(split)

    def reader(
        self, splits: Sequence[str], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return a reader of one batch, or of all that will come."""
        if self.bounded:
            return SplitReader(self, splits, restored, context)
        return _BatchReader(self.folder, restored, context)


class _BatchReader(SourceReader):
    """Reads the subtask's share of each batch, in the order of their numbers.

    Its snapshot: the number of a batch, and how many of its elements are read; of each subtask.
    """

    def __init__(
        self, folder: str, restored: Sequence[Any] | None, context: OperatorContext
    ) -> None:
        self._folder = folder
        self._index, self._parallelism = context.task.subtask_index, context.task.parallelism
        self._batch = self._read = 0
        self._rows: Iterator[Bundle] | None = None
        self._rest: Bundle | None = None
        if restored:
            self._restore(restored)
        self._skip = self._read

    def _restore(self, restored: Sequence[Any]) -> None:
        positions = {tuple(position) for position in restored}
        if len(restored) == self._parallelism:
            own = {index: (batch, read) for index, batch, read in restored}
            self._batch, self._read = own[self._index]
        elif (
            len({(batch, read) for _, batch, read in positions}) == 1
            and not next(iter(positions))[2]
        ):
            _, self._batch, self._read = next(iter(positions))
        else:
            raise ValueError(
                "a source of Spark's batches was stopped in the middle of one: it can go on with "
                f"its former parallelism only, which was {len(restored)}"
            )

    def poll(self) -> Bundle | None:
        """Return the next rows."""
        if self._rest is None:
            self._rest = self._next_bundle()
            if self._rest is None:
                return None
        bundle, self._rest = self._rest, None
        if len(bundle.values) > self.limit:
            bundle, self._rest = bundle.first(self.limit), bundle.after(self.limit)
        self._read += len(bundle.values)
        return bundle

    def _next_bundle(self) -> Bundle | None:
        while True:
            if self._rows is None:
                files = files_of_batch(self._folder, self._batch)
                if not files and not batch_is_there(self._folder, self._batch):
                    return None
                self._rows = _all_rows(files[self._index :: self._parallelism])
            bundle = next(self._rows, None)
            if bundle is None:
                self._rows = None
                self._batch, self._read, self._skip = self._batch + 1, 0, 0
                continue
            skipped = min(self._skip, len(bundle.values))
            self._skip -= skipped
            if skipped < len(bundle.values):
                return bundle.after(skipped)

    def snapshot(self) -> list[Any]:
        """Return how far the subtask is."""
        return [(self._index, self._batch, self._read)]


def batch_is_there(folder: str, batch: int) -> bool:
    """Tell whether Spark has written a batch."""
    return Path(folder, f"batch-{batch}").is_dir()


def files_of_batch(folder: str, batch: int) -> list[str]:
    """Return the files of a batch, always in the same order."""
    return sorted(map(str, Path(folder, f"batch-{batch}").glob("*.parquet")))


def batches(folder: str) -> list[int]:
    """Return the numbers of the batches that are there."""
    found = (_BATCH.search(path.name) for path in Path(folder).glob("batch-*"))
    return sorted(int(match[1]) for match in found if match)


def read_rows(file: str) -> Iterator[Bundle]:
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


def _all_rows(files: Sequence[str]) -> Iterator[Bundle]:
    for file in files:
        yield from read_rows(file)


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
