"""The source that reads staged files."""

from __future__ import annotations

import copy
import logging
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._connectors.staged_rows.batch_folder import BatchFolder
from pyflink_on_spark._connectors.staged_rows.parquet_rows import rows_of_file
from pyflink_on_spark._connectors.staged_rows.reader import BatchReader
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, SplitReader, share_of
from pyflink_on_spark._runtime.elements.bundle import Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation

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
        self._folder = BatchFolder(folder) if self._lasting else _own_folder(folder)
        self.produced_type, self.bounded = produced_type, bounded
        self._stage: Stage | None = stage
        self._staging: Staging | None = None
        self._parallelism = 0
        self._clock, self._looked = clock, clock()
        self._oldest: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_stage": None, "_staging": None}

    def with_configuration(self, configuration: Mapping[str, str]) -> StagedRows:
        """Return this source for one run of a job."""
        if self._lasting:
            return self
        own = copy.copy(self)
        own._stage = self._stage
        own._folder = _own_folder(self._parent)
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
        self, splits: Sequence[str], restored: Sequence[Any] | None, context: OperatorContext
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


def _check_there(restored: Sequence[tuple[str, Any, int]]) -> None:
    for file, *_ in restored:
        if not Path(file).exists():
            raise FileNotFoundError(
                f"this checkpoint resumes reading {file}, where Spark had put rows for "
                "from_spark(), and which is gone. Rows of a batch DataFrame stay for as long as a "
                "checkpoint may need them only in a folder that is given (staging=...), and only "
                "if the job leaves a checkpoint or savepoint; begin without this one"
            )


def _own_folder(parent: str) -> BatchFolder:
    return BatchFolder(f"{parent}/{uuid.uuid4().hex}")
