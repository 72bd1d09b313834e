"""The source that reads staged files."""

from __future__ import annotations

import copy
import logging
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.contract.connector import (
    OwnPositions,
    Source,
    SourceReader,
    SplitReader,
    share_of,
)
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


_IDENTITY, _FIRST, _POSITIONS = "identity", "first-batch", "positions"
_BATCH = re.compile(r"batch-(\d+)$")


class BatchFolder:
    """A folder with a sub-folder for each batch, and notes about the batches in use.

    Args:
        path: the path of the folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._notes = Folder(path)

    def establish(self) -> None:
        """Give the folder an identity unless it has one."""
        if _IDENTITY not in self._notes.names():
            self._notes.write(_IDENTITY, uuid.uuid4().hex.encode())

    @property
    def identity(self) -> str:
        """The identity of the folder, which another folder at the same path does not have.

        Raises:
            FileNotFoundError: the folder does not exist.
        """
        return self._notes.read(_IDENTITY).decode()

    @property
    def first(self) -> int:
        """The number of the first batch that is not removed."""
        try:
            return int(self._notes.read(_FIRST))
        except FileNotFoundError:
            return 0

    def batch(self, number: int) -> Path:
        """Return the folder of a batch, which may not exist yet."""
        return Path(self.path, f"batch-{number}")

    def is_there(self, number: int) -> bool:
        """True once Spark has written a batch."""
        return self.batch(number).is_dir()

    def files(self, number: int) -> list[str]:
        """Return the files of a batch in a fixed order."""
        return sorted(map(str, self.batch(number).glob("*.parquet")))

    def note_position(self, checkpoint_id: int, subtask: int, batch: int) -> None:
        """Note the first batch that a subtask needs to resume from a checkpoint."""
        folder = Path(self.path, _POSITIONS, str(checkpoint_id))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{subtask}-{batch}").touch()

    def remove_read(self, checkpoint_id: int, parallelism: int) -> None:
        """Remove the batches that neither a checkpoint nor a later one needs.

        The number of the first batch is written before batches are removed, so that a job that
        needs a removed batch fails with an explanation.

        Args:
            checkpoint_id: the oldest checkpoint that must be restorable.
            parallelism: the number of subtasks. Nothing is removed unless the positions of all of
                them are known.
        """
        positions: dict[int, int] = {}
        for note in Path(self.path, _POSITIONS, str(checkpoint_id)).glob("*-*"):
            subtask, _, batch = note.name.partition("-")
            positions[int(subtask)] = min(int(batch), positions.get(int(subtask), int(batch)))
        if not positions.keys() >= set(range(parallelism)):
            return
        first = min(positions.values())
        if first > self.first:
            self._notes.write(_FIRST, str(first).encode())
        for number, folder in self._batches():
            if number < first:
                shutil.rmtree(folder, ignore_errors=True)
        for folder in Path(self.path, _POSITIONS).iterdir():
            if int(folder.name) < checkpoint_id:
                shutil.rmtree(folder, ignore_errors=True)

    def _batches(self) -> Iterator[tuple[int, Path]]:
        for path in Path(self.path).glob("batch-*"):
            match = _BATCH.match(path.name)
            if match:
                yield int(match[1]), path


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


def _value(value: object) -> object:
    if type(value) is dict:
        row = Row(*map(_value, value.values()))
        row.set_field_names(list(value))
        return row
    if type(value) is list:
        if value and all(type(entry) is tuple and len(entry) == 2 for entry in value):
            return {key: _value(entry) for key, entry in value}
        return list(map(_value, value))
    return value


class BatchReader(SourceReader):
    """Reads the subtask's share of each batch, in the order of their numbers.

    The snapshot has one entry: the index of the subtask, the number of the current batch, how many
    of its elements are read, and the identity of the folder.

    Args:
        folder: the folder of the batches.
        restored: the snapshots of all subtasks, or None.
        context: the context of the subtask.

    Raises:
        ValueError: a snapshot belongs to another folder, or to another parallelism and the middle
            of a batch, or the batch at which reading begins was removed.
    """

    def __init__(
        self, folder: str, restored: Sequence[object] | None, context: OperatorContext
    ) -> None:
        self._folder = BatchFolder(folder)
        self._identity = _identity(self._folder)
        self._index, self._parallelism = context.task.subtask_index, context.task.parallelism
        self._batch = self._read = 0
        self._rows: Iterator[Bundle] | None = None
        self._rest: Bundle | None = None
        if restored:
            self._restore(restored)
        self._skip = self._read
        self._check_there(bool(restored))

    def _restore(self, restored: Sequence[Any]) -> None:
        if any(identity != self._identity for *_, identity in restored):
            raise ValueError(
                "a checkpoint of from_spark() needs the staging folder with which it was "
                f"made, and {self._folder.path} is another one: give from_spark() one that stays "
                "(staging=...), always the same"
            )
        places = {(batch, read) for _, batch, read, _ in restored}
        if len(restored) == self._parallelism or isinstance(restored, OwnPositions):
            own = {index: (batch, read) for index, batch, read, _ in restored}
            self._batch, self._read = own[self._index]
        elif len(places) == 1 and not next(iter(places))[1]:
            self._batch, self._read = next(iter(places))
        else:
            raise ValueError(
                "a source of Spark's batches was stopped in the middle of a batch: it resumes "
                f"only with its former parallelism, which was {len(restored)}"
            )

    def _check_there(self, restored: bool) -> None:
        first = self._folder.first
        if self._batch < first:
            what = "this checkpoint needs" if restored else "a job without a checkpoint begins with"
            raise ValueError(
                f"{what} batch {self._batch} of the staging folder {self._folder.path}, which has "
                f"none before {first} any more: those before were read by a job whose checkpoints "
                "are past them. Begin with a later checkpoint (execution.state-recovery.path), or "
                "give from_spark() another folder (staging=...), for which Spark begins again"
            )

    def poll(self) -> Bundle | None:
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
                if not self._folder.is_there(self._batch):
                    return None
                files = self._folder.files(self._batch)
                self._rows = rows_of_files(files[self._index :: self._parallelism])
            bundle = next(self._rows, None)
            if bundle is None:
                self._rows = None
                self._batch, self._read, self._skip = self._batch + 1, 0, 0
                continue
            skipped = min(self._skip, len(bundle.values))
            self._skip -= skipped
            if skipped < len(bundle.values):
                return bundle.after(skipped)

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        """Note the batches that the checkpoint needs, so that earlier ones can be removed."""
        self._folder.note_position(checkpoint_id, self._index, self._batch)

    def snapshot(self) -> list[object]:
        return [(self._index, self._batch, self._read, self._identity)]


def _identity(folder: BatchFolder) -> str:
    try:
        return folder.identity
    except FileNotFoundError:
        raise FileNotFoundError(
            f"the staging folder {folder.path} of from_spark() is not there: on a cluster it has "
            "to be one that all machines see (staging=...)"
        ) from None


_LOOK_SECONDS = 1.0
_log = logging.getLogger("pyflink_on_spark")


class Staging(Protocol):
    """A query of Spark that writes into a folder."""

    def failure(self) -> BaseException | None:
        """Return the error of the query, or None."""
        ...

    def end(self) -> None:
        """Stop the query. Idempotent."""
        ...


Stage = Callable[[str], Staging]


class StagedRows(Source):
    """Reads the batches that Spark writes into a folder, each as a sub-folder of Parquet files.

    Args:
        folder: the folder; on a cluster a folder that all workers share.
        lasting: whether a later run of the job resumes from the files in the folder. A bounded
            source has a sub-folder for each run, which stays if the run leaves a checkpoint that
            may name its files. A source that is not lasting removes its sub-folder after the run.
        produced_type: the type of the rows.
        bounded: whether there is only one batch, number 0.
        stage: starts a query that writes into a folder. It stays in the driver: workers get the
            source without it.
        clock: returns monotonic seconds.
    """

    def __init__(
        self,
        folder: str,
        lasting: bool,
        produced_type: TypeInformation,
        bounded: bool,
        stage: Stage,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parent, self._lasting = folder, lasting and not bounded
        self._stays_if_resumable = lasting and bounded
        self._folder = BatchFolder(folder) if self._lasting else own_folder(folder)
        self.produced_type, self.bounded = produced_type, bounded
        self._stage: Stage | None = stage
        self._staging: Staging | None = None
        self._parallelism = 0
        self._clock, self._looked = clock, clock()
        self._oldest: int | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_stage": None, "_staging": None}

    def with_configuration(self, configuration: Mapping[str, str]) -> StagedRows:
        """Return this source for one run of a job."""
        if self._lasting:
            return self
        own: StagedRows = copy.copy(self)
        own._stage = self._stage
        own._folder = own_folder(self._parent)
        return own

    def splits(self, parallelism: int) -> list[str]:
        """Start the query; return the files of a bounded source."""
        self._parallelism = parallelism
        if not self.bounded:
            self._folder.establish()
        self._begin()
        return self._folder.files(0) if self.bounded else []

    def _begin(self) -> None:
        assert self._stage is not None
        self._staging = self._stage(self._folder.path)

    def begin_again(self) -> None:
        """Restart the query if it has failed."""
        if self._staging is not None and self._staging.failure() is not None:
            self._staging.end()
            self._begin()

    def maintain(self, oldest_checkpoint: int | None) -> None:
        """Check the query, and remove the batches that no checkpoint needs any more.

        Raises:
            BaseException: what Spark failed with.
        """
        if self.bounded or self._staging is None:
            return
        now = self._clock()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            failure = self._staging.failure()
            if failure is not None:
                raise failure
        if oldest_checkpoint is not None and oldest_checkpoint != self._oldest:
            self._oldest = oldest_checkpoint
            try:
                self._folder.remove_read(oldest_checkpoint, self._parallelism)
            except OSError as error:
                _log.warning("batches that are read could not be removed: %s", error)

    def job_ended(self, resumable: bool) -> None:
        """Stop the query, and remove the files that no other run can resume from."""
        if self._staging is not None:
            self._staging.end()
            self._staging = None
            if not self._lasting and not (self._stays_if_resumable and resumable):
                shutil.rmtree(self._folder.path, ignore_errors=True)

    def read(self, split: str, context: OperatorContext) -> Iterator[Bundle]:
        """Yield the rows of a file."""
        return rows_of_file(split)

    def reader(
        self, splits: Sequence[str], restored: Sequence[object] | None, context: OperatorContext
    ) -> SourceReader:
        """Return a reader of a single batch, or of all batches.

        Raises:
            FileNotFoundError: files are missing that the checkpoint of a bounded source names.
        """
        if self.bounded:
            if restored is not None:
                _check_there(share_of(restored, context))
            return SplitReader(self, splits, restored, context)
        return BatchReader(self._folder.path, restored, context)


def _check_there(restored: Sequence[tuple[str, object, int]]) -> None:
    for file, *_ in restored:
        if not Path(file).exists():
            raise FileNotFoundError(
                f"this checkpoint resumes reading {file}, where Spark had put rows for "
                "from_spark(), and which is gone. Rows of a batch DataFrame stay for as long as a "
                "checkpoint may need them only in a folder that is given (staging=...), and only "
                "if the job leaves a checkpoint or savepoint; begin without this one"
            )


def own_folder(parent: str) -> BatchFolder:
    """Return a new folder below another one."""
    return BatchFolder(f"{parent}/{uuid.uuid4().hex}")
