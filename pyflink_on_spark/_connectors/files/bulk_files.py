"""What one subtask writes to one bucket in a bulk format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.files.bucket_writer import BucketWriter
from pyflink_on_spark._connectors.files.part_file import PartFile, naming
from pyflink_on_spark._filesystem.local_files import LOCAL

if TYPE_CHECKING:
    from pyflink_on_spark._filesystem.file_system import FileSystem
    from pyflink_on_spark._connectors.formats.bulk_format import BulkFormat, BulkWriter


class BulkPartFile(PartFile):
    """A part file that is written as a whole; its size is known when it is finished.

    Args:
        bucket: the folder of the bucket.
        in_progress_path: where its bytes are.
        path: what it will be called.
        now: the time in ms.
        form: the format.
        files: where they are.
    """

    def __init__(
        self,
        bucket: str,
        in_progress_path: str,
        path: str,
        now: int,
        form: BulkFormat,
        files: FileSystem = LOCAL,
    ) -> None:
        super().__init__(bucket, in_progress_path, path, now, files)
        self._writer: BulkWriter | None = None
        try:
            self._writer = form.open(self._file)
        except BaseException:
            self.discard()
            raise

    def add(self, elements: Sequence[Any], now: int) -> None:
        """Append some converted elements at a time in ms."""
        with naming(self._path):
            self._open_writer().write(elements)
        self.last_written = now

    def finish(self) -> None:
        with naming(self._path):
            self._open_writer().finish()
            if not self._file.closed:  # Arrow's writers close what they write to
                self.size = self._file.tell()
        super().finish()

    def _open_writer(self) -> BulkWriter:
        assert self._writer is not None
        return self._writer

    def discard(self) -> None:
        if self._writer is not None and not self._file.closed:
            self._writer.abandon()
        super().discard()


class BulkBucketWriter(BucketWriter):
    """Writes elements to part files that only a checkpoint, or the end, finishes."""

    _encoder: Any  # the bulk format

    def write(self, texts: Sequence[Any], now: int) -> None:
        """Write some converted elements at a time in ms."""
        if self._part is None:
            path = self._names.next_path(self._folder)
            hidden = self._owner.in_progress_path(path)
            self._part = BulkPartFile(self._folder, hidden, path, now, self._encoder, self._files)
        assert isinstance(self._part, BulkPartFile)
        self._part.add(texts, now)
