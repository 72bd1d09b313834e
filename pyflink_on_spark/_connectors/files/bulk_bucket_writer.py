"""Writes a bulk format to one bucket from one subtask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.files.bucket_writer import BucketWriter
from pyflink_on_spark._connectors.files.part_file import PartFile, naming
from pyflink_on_spark._filesystem.local_files import LOCAL

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.output_format import (
        OutputFileFormat,
        OutputFileWriter,
    )
    from pyflink_on_spark._filesystem.file_system import FileSystem


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
