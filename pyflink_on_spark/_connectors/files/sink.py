"""The sink that writes elements to part files in buckets, and its writer."""

from __future__ import annotations

import logging
import os
import struct
import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, ClassVar

from pyflink_on_spark._connectors.files.config import (
    FileSinkConfig,
    PartNames,
    SubtaskNames,
    UniqueNames,
)
from pyflink_on_spark._connectors.files.part_file import (
    InProgressFile,
    Owner,
    PartFile,
    PendingFile,
    files_of_runs,
    leftovers,
    mark_of,
    naming,
    remove_leftovers,
)
from pyflink_on_spark._connectors.formats.file_format import LineEncoder
from pyflink_on_spark._filesystem.local_files import LOCAL
from pyflink_on_spark._filesystem.location import Location, absolute, locate
from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter, Versioned
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.types.converters import java_text
from pyflink_on_spark.common._charset import find_charset
from pyflink_on_spark.common.typeinfo import PickledBytesTypeInfo, TypeInformation

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.files.config import RollingLimits
    from pyflink_on_spark._connectors.formats.file_format import OutputFileFormat, OutputFileWriter
    from pyflink_on_spark._filesystem.file_system import FileSystem
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_SLOW = 50
"""The longest time that an element waits for others of its chunk, in ms."""


class BucketWriter:
    """Writes lines to part files.

    Args:
        folder: the folder of the bucket.
        names: the names of the part files.
        owner: identifies the writer in the names of hidden files.
        encoder: encodes lines; a LineEncoder.
        policy: when a part file is finished.
        files: the file system.
    """

    def __init__(
        self,
        folder: str,
        names: PartNames,
        owner: Owner,
        encoder: Any,
        policy: RollingLimits,
        files: FileSystem = LOCAL,
    ) -> None:
        self._folder = folder
        self._names = names
        self._owner = owner
        self._encoder = encoder
        self._policy = policy
        self._files = files
        self._part: PartFile | None = None
        self._finished: list[PartFile] = []

    @property
    def idle(self) -> bool:
        """True if the bucket has no part file."""
        return self._part is None and not self._finished

    def write(self, texts: Sequence[str], now: int) -> None:
        """Write lines at a processing time in ms.

        A part file gets lines until it is larger than the policy allows, so the last line may
        exceed the limit.
        """
        content = self._encoder.encode(texts)
        part = self._part_for_next_line(now)
        limit = self._policy.part_size
        if limit is None or part.size + len(content) <= limit:
            part.write(content, now)
        else:
            self._write_rolling(self._encoder.encode_each(texts), limit, now)

    def roll_if_due(self, now: int) -> None:
        """Finish the part file if a time limit of the policy has passed; ``now`` in ms."""
        part = self._part
        if part is not None and self._policy.is_due(now, part.created, part.last_written):
            self.roll()

    def roll_at_checkpoint(self) -> None:
        """Finish the part file if the policy says so at checkpoints."""
        if self._part is not None and self._policy.is_due_at_checkpoint(self._part.size):
            self.roll()

    def roll(self) -> None:
        """Finish the part file, if there is one."""
        if self._part is not None:
            self._part.finish()
            self._finished.append(self._part)
            self._part = None

    def take_finished(self, checkpoint: int = 0) -> list[PendingFile]:
        """Return the part files that were finished since the previous call.

        Args:
            checkpoint: the number of the checkpoint for which the files must be durable; 0: none.
        """
        if checkpoint:
            for part in self._finished:
                part.sync()
        finished, self._finished = self._finished, []
        return [part.pending(checkpoint) for part in finished]

    def save(self, name: str) -> list[InProgressFile]:
        """Return the data from which the part file, if there is one, can be resumed.

        Args:
            name: the name of the bucket.
        """
        return [] if self._part is None else [self._part.save(name)]

    def resume(self, saved: InProgressFile) -> None:
        """Resume a part file; finish the current one first."""
        self.roll()
        hidden = self._owner.in_progress_path(saved.path)
        self._part = PartFile.resume(self._folder, hidden, saved)

    def discard(self) -> None:
        """Remove part files that are neither in a committable nor in a snapshot."""
        if self._part is not None:
            self._part.discard()
            self._part = None
        while self._finished:
            self._finished.pop().discard()

    def _write_rolling(self, lines: list[bytes], limit: int, now: int) -> None:
        ends = list(accumulate(map(len, lines)))
        first = written = 0
        while first < len(lines):
            part = self._part_for_next_line(now)
            end = bisect_right(ends, limit - part.size + written, lo=first) + 1
            part.write(b"".join(lines[first:end]), now)
            first = min(end, len(lines))
            written = ends[first - 1]

    def _part_for_next_line(self, now: int) -> PartFile:
        limit = self._policy.part_size
        if self._part is not None and limit is not None and self._part.size > limit:
            self.roll()
        if self._part is None:
            path = self._names.next_path(self._folder)
            hidden = self._owner.in_progress_path(path)
            self._part = PartFile(self._folder, hidden, path, now, self._files)
        return self._part


class BulkPartFile(PartFile):
    """A part file in a bulk format, whose size is known only when it is finished.

    Args:
        bucket: the folder of the bucket.
        in_progress_path: the hidden path while the file is written.
        path: the final path.
        now: the processing time in ms.
        form: the format.
        files: the file system.
    """

    def __init__(
        self,
        bucket: str,
        in_progress_path: str,
        path: str,
        now: int,
        form: OutputFileFormat,
        files: FileSystem = LOCAL,
    ) -> None:
        super().__init__(bucket, in_progress_path, path, now, files)
        self._writer: OutputFileWriter | None = None
        try:
            self._writer = form.open(self._file)
        except BaseException:
            self.discard()
            raise

    def add(self, elements: Sequence[object], now: int) -> None:
        """Append converted elements at a processing time in ms."""
        with naming(self._path):
            self._open_writer().write(elements)
        self.last_written = now

    def finish(self) -> None:
        with naming(self._path):
            self._open_writer().finish()
            closed = self._file.closed  # Arrow's writers close what they write to
            if not closed:
                self.size = self._file.tell()
        super().finish()
        if closed:
            self.size = self._files.status(self._in_progress_path).size

    @property
    def flushed(self) -> int:
        """The bytes in the file, without those that the format still buffers."""
        return self._file.tell()

    def _open_writer(self) -> OutputFileWriter:
        assert self._writer is not None
        return self._writer

    def discard(self) -> None:
        if self._writer is not None and not self._file.closed:
            self._writer.abandon()
        super().discard()


class BulkBucketWriter(BucketWriter):
    """Writes elements to part files that are finished at each checkpoint, or earlier."""

    _encoder: Any  # an OutputFileFormat

    def write(self, texts: Sequence[object], now: int) -> None:
        """Write converted elements at a processing time in ms.

        They go to a new part file if what the format has flushed exceeds the policy's size.
        """
        limit, part = self._policy.part_size, self._part
        if limit is not None and isinstance(part, BulkPartFile) and part.flushed > limit:
            self.roll()
        if self._part is None:
            path = self._names.next_path(self._folder)
            hidden = self._owner.in_progress_path(path)
            self._part = BulkPartFile(self._folder, hidden, path, now, self._encoder, self._files)
        assert isinstance(self._part, BulkPartFile)
        self._part.add(texts, now)

    def roll_at_checkpoint(self) -> None:
        """Finish the part file: whatever the policy, no file of a bulk format can be resumed."""
        self.roll()


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
        to_text: Callable[[object], object],
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

    def write(self, elements: Iterator[object]) -> None:
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

    def next_processing_time(self) -> int | None:
        """Return when the next check is due, if there is anything to check."""
        return self._next_check if self._buckets else None

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

    def _placed_text(self, element: object) -> tuple[str, object]:
        assert self._bucket_of is not None
        return self._bucket_of(element), self._to_text(element)

    def _write_placed(self, placed: Iterable[tuple[str, object]], now: int) -> None:
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


_log = logging.getLogger(__name__)

_BUCKET, _BUCKET_VERSION = 0x1E764B79, 3
_PART, _PART_VERSION = 0xB3A4073D - (1 << 32), 2
_LOCAL = 0x1E744B57
_LENGTH = 4


class PartFileSink(Sink):
    """Writes elements to part files, in a bulk format or as text with a line for each element.

    Where a file cannot be resumed, as in object stores, each checkpoint finishes the part files.

    Args:
        config: the settings of the sink.
        input_type: the type of the elements.
        configuration: the configuration of the job, which may say how to reach the file system.

    Raises:
        ValueError: there is no such character set, or the file system is read-only.
        ModuleNotFoundError: a package for the file system is missing.
    """

    flink_commits = True
    writer_class: ClassVar[type[FileSinkWriter]] = FileSinkWriter
    """The writer of a subtask."""

    def __init__(
        self,
        config: FileSinkConfig,
        input_type: TypeInformation | None = None,
        configuration: Mapping[str, str] | None = None,
    ) -> None:
        self._place = locate(config.base_path, configuration or {})
        self._files = self._place.files
        if not self._files.writable:
            raise ValueError(f"files cannot be written there, only read: {self._place.path}")
        self._config = replace(config, base_path=absolute(config.base_path))
        self._configuration = configuration
        self._charset = find_charset(config.charset_name)
        self._input_type = input_type
        self._id = uuid.uuid4().hex
        self._marked: set[str] = set()
        # Snapshots name part files only where these can be resumed.
        self.keeps_snapshots = self._files.resumable and config.bulk is None

    def with_input_type(self, type_info: TypeInformation | None) -> PartFileSink:
        bulk = self._config.bulk
        if bulk is not None:
            bulk.check_input(type_info)
        elif type_info is None or isinstance(type_info, PickledBytesTypeInfo):
            _log.warning(
                "A file sink writes the elements of a stream without a type as str() does; PyFlink "
                "would write names of Java arrays, as [B@1a2b3c4d, into %s. For the same text "
                "there declare a type: .map(str, output_type=Types.STRING())",
                self._config.base_path,
            )
        return type(self)(self._config, type_info, self._configuration)

    def with_configuration(self, configuration: Mapping[str, str]) -> PartFileSink:
        return type(self)(self._config, self._input_type, configuration)

    def snapshots_of_flink(self, written: Sequence[Versioned]) -> list[Any]:
        found = [part for version, data in written for part in _unfinished(version, data)]
        if found and not self.keeps_snapshots:
            raise ValueError(
                "part files that are not finished can be continued in local folders only, and "
                "those of bulk formats nowhere"
            )
        return found

    def writer(self, context: OperatorContext) -> FileSinkWriter:
        config = self._config
        if config.bulk is not None:
            config.bulk.check_input(self._input_type)
        if not self._files.resumable:
            config = replace(config, rolling=replace(config.rolling, on_checkpoint=True))
        to_text, encoder, bucket_writer = self._form()
        return self.writer_class(
            config, to_text, encoder, context, self._id, bucket_writer, self._place
        )

    def _form(self) -> tuple[Callable[[object], object], Any, type[BucketWriter]]:
        """Return the conversion of elements, their encoder, and the writer class of a bucket."""
        bulk = self._config.bulk
        if bulk is not None:
            return bulk.converter(), bulk, BulkBucketWriter
        return java_text(self._input_type), LineEncoder(self._charset), BucketWriter

    def _unmark(self, committables: list[PendingFile]) -> None:
        for file in committables:
            for path in file.originals:
                self._files.remove(mark_of(path))
            if file.in_progress_path in self._marked:
                self._files.remove(mark_of(file.in_progress_path))
                self._marked.discard(file.in_progress_path)

    def hold_back(
        self, committables: list[PendingFile], checkpoint_id: int
    ) -> tuple[list[PendingFile], list[PendingFile]]:
        if self._config.compaction is None:
            return committables, []
        return self._config.compaction.hold_back(committables, checkpoint_id, self._files)

    def keep(self, committables: list[PendingFile | InProgressFile]) -> None:
        for path in {file.in_progress_path for file in committables} - self._marked:
            if self._files.exists(path) and not self._files.exists(mark_of(path)):
                self._files.create(mark_of(path)).close()
            self._marked.add(path)

    def commit(self, committables: list[PendingFile]) -> None:
        if self._config.compaction is not None:
            self._config.compaction.commit(committables, files=self._files)
        else:
            for file in committables:
                file.commit(self._files)
        self._announce(committables)
        self._unmark(committables)

    def commit_again(self, committables: list[PendingFile]) -> None:
        # A missing file was committed, and moved since then.
        if self._config.compaction is not None:
            self._config.compaction.commit(committables, again=True, files=self._files)
        else:
            for file in committables:
                if self._files.exists(file.in_progress_path):
                    file.commit(self._files)
                file.remove_originals(self._files)
        self._announce(committables)
        self._unmark(committables)

    def _announce(self, committables: list[PendingFile]) -> None:
        name = self._config.success_file
        if name is not None:
            for bucket in sorted({file.bucket for file in committables}):
                self._put_marker(bucket, name)

    def _put_marker(self, folder: str, name: str) -> None:
        """Put a new empty file into a folder, in place of an older one."""
        path = f"{folder}/{name}"
        self._files.remove(path)
        self._files.create(path).close()

    def remove_leftovers(self, attempts: int) -> None:
        runs = {Owner.of(self._id, attempt).run for attempt in range(attempts)}
        base = self._place.path
        if self._files.exists(base):
            remove_leftovers(files_of_runs(base, runs, self._files), self._files)

    def abort(self, committables: list[PendingFile]) -> None:
        for file in committables:
            file.discard(self._files)


def _unfinished(version: int, data: DataInput) -> list[InProgressFile]:
    """Read the part file of a bucket of Flink's ``FileSink``, if there is one.

    Raises:
        ValueError: it is of another version, or not in a local folder.
    """
    if version != _BUCKET_VERSION or data.integer() != _BUCKET:
        raise ValueError(f"buckets of version {version} are not known")
    data.integer()
    bucket = data.take(data.count("bytes"))[_LENGTH:].decode("utf-8")
    data.utf()  # the folder of the bucket
    created = data.long()
    if not data.boolean():
        return []
    version, size = data.integer(), data.count("bytes")
    if version != _PART_VERSION or data.integer() != _PART:
        raise ValueError(f"part files of version {version} are not known")
    if data.boolean():
        data.utf()
    _, size = data.integer(), data.count("bytes")
    place = data.take(size)
    if int.from_bytes(place[:_LENGTH], "little") != _LOCAL:
        raise ValueError("the part file is not in a local folder")
    size, final, hidden = struct.unpack_from("<qii", place, _LENGTH)
    paths = place[_LENGTH + 16 :]
    if len(paths) != final + hidden:
        raise ValueError("the place of a part file is damaged")
    path, in_progress = (text.decode("utf-8") for text in (paths[:final], paths[final:]))
    return [InProgressFile(bucket, in_progress, path, size, created, created)]
