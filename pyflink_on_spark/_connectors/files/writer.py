"""Writes part files from one subtask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.files.bucket_writer import BucketWriter
from pyflink_on_spark._connectors.files.config import (
    PartNames,
    SubtaskNames,
    UniqueNames,
)
from pyflink_on_spark._connectors.files.part_file import (
    InProgressFile,
    Owner,
    PendingFile,
    leftovers,
    remove_leftovers,
)
from pyflink_on_spark._filesystem.location import Location, locate
from pyflink_on_spark._runtime.contract.connector import SinkWriter
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.files.config import FileSinkConfig
    from pyflink_on_spark._connectors.formats.charset import LineEncoder
    from pyflink_on_spark._connectors.formats.file_format import OutputFileFormat
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_SLOW = 50
"""The longest time that an element waits for others of its chunk, in ms."""


@dataclass(frozen=True)
class WriterRecord:
    """The record of a subtask's writer that all subtasks need after a restart.

    Args:
        family: the family of the writer; see ``Owner``.
        in_progress: the paths of part files that are not finished.
        counter: the next number of a part file whose name contains the subtask.
    """

    family: str
    in_progress: tuple[str, ...]
    counter: int


class FileSinkWriter(SinkWriter):
    """Writes elements to part files in buckets.

    Args:
        config: the settings of the sink.
        to_text: returns the text of an element, or its representation in the bulk format.
        encoder: encodes texts, or the bulk format.
        context: the context of the subtask. Buckets and the rolling policy use its clock.
        sink: the unique id of the sink.
        bucket_writer: the class that writes to one bucket.
        place: the location of the base path.

    Raises:
        NotADirectoryError: the base path is a file.
    """

    def __init__(
        self,
        config: FileSinkConfig,
        to_text: Callable[[Any], Any],
        encoder: LineEncoder | OutputFileFormat,
        context: OperatorContext,
        sink: str,
        bucket_writer: type[BucketWriter] = BucketWriter,
        place: Location | None = None,
    ) -> None:
        place = place or locate(config.base_path)
        self._base_path, self._files = place.path, place.files
        found = self._files.exists(self._base_path)
        if found and not self._files.status(self._base_path).is_folder:
            raise NotADirectoryError(f"the folder to write to is a file: {self._base_path}")
        self._config = config
        self._to_text = to_text
        self._bucket_of = config.buckets.of_element()
        self._encoder = encoder
        self._bucket_writer = bucket_writer
        self._task = context.task
        self._clock = context.clock
        self._sink, self._owner = sink, Owner.of(sink, context.task.attempt)
        self._restored, self._copied = context.restored is not None, context.copied
        self._checkpointed = context.checkpointed
        self._leftovers: list[str] = []
        self._records = context.operator_state.union_list_state("_file_sink")
        self._subtask_names = SubtaskNames(config.affixes, context.task.subtask_index, self._files)
        self._buckets: dict[str, BucketWriter] = {}
        self._next_check = self._clock.now() + config.bucket_check_interval
        self._chunk_size = 64

    def write(self, elements: Iterator[Any]) -> None:
        # An element is converted when it arrives: the user's function may change it afterwards.
        text = self._to_text if self._bucket_of is None else self._placed_text
        texts: Iterator[Any] = (text(value) for value in elements)
        while True:
            before = self._clock.now()
            chunk = list(islice(texts, self._chunk_size))
            if not chunk:
                return
            now = self._clock.now()
            self._adapt_chunk_size(now - before)
            self.advance_processing_time(now)
            if self._bucket_of is None:
                self._bucket(self._config.buckets.bucket(now)).write(chunk, now)
            else:
                self._write_placed(chunk, now)

    def advance_processing_time(self, now: int) -> None:
        """Finish the part files for which a time limit has passed, if a check is due."""
        if now < self._next_check:
            return
        self._next_check = now + self._config.bucket_check_interval
        for bucket in self._buckets.values():
            bucket.roll_if_due(now)

    def prepare_commit(self) -> list[PendingFile]:
        for bucket in self._buckets.values():
            bucket.roll()
        return self._take_finished(0)

    def prepare_checkpoint(self, checkpoint_id: int) -> list[PendingFile]:
        for bucket in self._buckets.values():
            bucket.roll_at_checkpoint()
        return self._take_finished(checkpoint_id)

    def snapshot(self) -> list[InProgressFile]:
        saved = [file for name, bucket in self._buckets.items() for file in bucket.save(name)]
        record = WriterRecord(
            self._owner.family,
            tuple(file.in_progress_path for file in saved),
            self._subtask_names.counter,
        )
        self._records.update([record])
        return saved

    def restore(self, snapshots: Sequence[InProgressFile]) -> None:
        records = self._records.get()
        # The job of a savepoint may continue, so its files are not those of this one.
        families = sorted({record.family for record in records if not self._copied})
        self._subtask_names.counter = max((record.counter for record in records), default=0)
        if families:
            self._owner = Owner(families[0], self._owner.run)
        if self._task.subtask_index == 0 and (self._restored or self._task.attempt > 0):
            families.append(self._owner.family)
            needed = {path for record in records for path in record.in_progress}
            self._find_leftovers(families, needed)
        for saved in snapshots:
            self._bucket(saved.bucket).resume(saved)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        # Before that, another run may have continued the job, and these may be the files of that.
        self._remove_leftovers()

    def close(self) -> None:
        for bucket in self._buckets.values():
            bucket.discard()

    def _find_leftovers(self, families: list[str], needed: set[str]) -> None:
        """Find the files in progress that nobody needs; remove those of this job's own attempts."""
        place, owner, files = self._base_path, self._owner, self._files
        if self._restored and self._checkpointed:
            self._leftovers = leftovers(place, owner, families, needed, files=files)
        else:
            attempts = range(self._task.attempt)
            runs = {Owner.of(self._sink, attempt).run for attempt in attempts}
            remove_leftovers(leftovers(place, owner, families, needed, runs, files), files)

    def _remove_leftovers(self) -> None:
        paths, self._leftovers = self._leftovers, []
        remove_leftovers(paths, self._files)

    def _placed_text(self, element: Any) -> tuple[str, Any]:
        assert self._bucket_of is not None
        return self._bucket_of(element), self._to_text(element)

    def _write_placed(self, placed: Iterable[tuple[str, Any]], now: int) -> None:
        by_bucket: dict[str, list[Any]] = {}
        for name, text in placed:
            by_bucket.setdefault(name, []).append(text)
        for name, texts in by_bucket.items():
            self._bucket(name).write(texts, now)

    def _take_finished(self, checkpoint: int) -> list[PendingFile]:
        found: list[PendingFile] = []
        for name, bucket in list(self._buckets.items()):
            finished = bucket.take_finished(checkpoint)
            found += finished
            if bucket.idle and not finished:
                del self._buckets[name]
        return found

    def _adapt_chunk_size(self, elapsed: int) -> None:
        """Make chunks short, because the time of writing decides on the bucket of an element."""
        if elapsed > _SLOW:
            self._chunk_size = max(self._chunk_size // 8, 1)
        else:
            self._chunk_size = min(self._chunk_size * 2, BUNDLE_SIZE)

    def _bucket(self, name: str) -> BucketWriter:
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._bucket_writer(
                self._folder(name),
                self._names(),
                self._owner,
                self._encoder,
                self._config.rolling,
                self._files,
            )
            self._buckets[name] = bucket
        return bucket

    def _folder(self, name: str) -> str:
        return os.path.join(self._base_path, name)

    def _names(self) -> PartNames:
        if self._config.named_by_subtask:
            return self._subtask_names
        return UniqueNames(self._config.affixes)
