"""Writes to one bucket from one subtask."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.files.part_file import (
    InProgressFile,
    PartFile,
    PendingFile,
    naming,
)
from pyflink_on_spark._filesystem.local_files import LOCAL

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.files.config import PartNames, RollingLimits
    from pyflink_on_spark._connectors.files.part_file import Owner
    from pyflink_on_spark._connectors.formats.file_format import OutputFileFormat, OutputFileWriter
    from pyflink_on_spark._filesystem.file_system import FileSystem


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

    def add(self, elements: Sequence[Any], now: int) -> None:
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

    def write(self, texts: Sequence[Any], now: int) -> None:
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
