"""Reads Spark's batches, one after the other, in one subtask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.staged_rows.batch_folder import BatchFolder
from pyflink_on_spark._connectors.staged_rows.parquet_rows import rows_of_files
from pyflink_on_spark._runtime.contract.connector import OwnPositions, SourceReader
from pyflink_on_spark._runtime.elements.bundle import Bundle

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


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
        self, folder: str, restored: Sequence[Any] | None, context: OperatorContext
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

    def snapshot(self) -> list[Any]:
        return [(self._index, self._batch, self._read, self._identity)]


def _identity(folder: BatchFolder) -> str:
    try:
        return folder.identity
    except FileNotFoundError:
        raise FileNotFoundError(
            f"the staging folder {folder.path} of from_spark() is not there: on a cluster it has "
            "to be one that all machines see (staging=...)"
        ) from None
