"""A part file: hidden while it is written, visible once it is committed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL


@dataclass(frozen=True)
class PendingFile:
    """A part file that is complete but not visible yet: the committable of the sink.

    Args:
        bucket: the folder of the bucket.
        in_progress_path: the hidden path of the file.
        path: the final path.
        size: the size in bytes.
        checkpoint: the number of the checkpoint that the file belongs to.
    """

    bucket: str
    in_progress_path: str
    path: str
    size: int
    checkpoint: int = 0

    def commit(self, files: FileSystem = LOCAL) -> None:
        """Make the file visible. Idempotent.

        Args:
            files: the file system.

        Raises:
            FileNotFoundError: the file exists neither under the hidden nor under the final path.
        """
        try:
            with naming(self.path):
                files.rename(self.in_progress_path, self.path)
        except FileNotFoundError:
            if not files.exists(self.path):
                raise

    def discard(self, files: FileSystem = LOCAL) -> None:
        """Remove the file if it is not visible yet."""
        with naming(self.in_progress_path):
            files.remove(self.in_progress_path)


@dataclass(frozen=True)
class InProgressFile:
    """The entry of a snapshot for a part file that is not finished.

    Args:
        bucket: the name of the bucket.
        in_progress_path: the hidden path of the file.
        path: the final path.
        size: the number of bytes that the checkpoint covers.
        created: the time of its creation, in ms.
        last_written: the time of the last write, in ms.
    """

    bucket: str
    in_progress_path: str
    path: str
    size: int
    created: int
    last_written: int


class PartFile:
    """The part file that a bucket currently writes to.

    Args:
        bucket: the folder of the bucket.
        in_progress_path: the hidden path while the file is written.
        path: the final path.
        now: the processing time in ms.
        files: the file system.

    Raises:
        OSError: the file cannot be created. The message contains the path.
    """

    def __init__(
        self, bucket: str, in_progress_path: str, path: str, now: int, files: FileSystem = LOCAL
    ) -> None:
        self._describe(bucket, in_progress_path, path, files)
        self.created = self.last_written = now
        with naming(path):
            self._file: BinaryIO = files.create(in_progress_path)

    @classmethod
    def resume(cls, bucket: str, saved: InProgressFile) -> PartFile:
        """Resume a local part file; truncate it to the size that the checkpoint covers.

        Raises:
            FileNotFoundError: the file does not exist any more.
            OSError: the file is shorter than the checkpoint says, or is not writable.
        """
        part = cls.__new__(cls)
        part._describe(bucket, saved.in_progress_path, saved.path, LOCAL)
        part.created, part.last_written = saved.created, saved.last_written
        part.size, part.saved = saved.size, True
        part._file = _reopen(saved)
        return part

    def _describe(self, bucket: str, in_progress_path: str, path: str, files: FileSystem) -> None:
        self.size = 0
        self._files = files
        self.saved = False
        """Whether a checkpoint may resume the file."""
        self._bucket, self._in_progress_path, self._path = bucket, in_progress_path, path

    def write(self, content: bytes, now: int) -> None:
        """Append bytes at a processing time in ms.

        Raises:
            OSError: the file cannot be written. The message contains the path.
        """
        with naming(self._path):
            self._file.write(content)
        self.size += len(content)
        self.last_written = now

    def save(self, bucket_name: str) -> InProgressFile:
        """Write all bytes to the disk, and return what is needed to resume the file.

        Raises:
            OSError: the file cannot be written. The message contains the path.
        """
        with naming(self._path):
            self._file.flush()
            os.fsync(self._file.fileno())
        self.saved = True
        return InProgressFile(
            bucket_name,
            self._in_progress_path,
            self._path,
            self.size,
            self.created,
            self.last_written,
        )

    def finish(self) -> None:
        """Close the file.

        Raises:
            OSError: the last bytes cannot be written. The message contains the path.
        """
        with naming(self._path):
            self._file.close()

    def sync(self) -> None:
        """Write a finished file to the disk.

        Raises:
            OSError: the file cannot be written. The message contains the path.
        """
        with naming(self._path):
            self._files.make_durable(self._in_progress_path)

    def pending(self, checkpoint: int) -> PendingFile:
        """Return the committable of a finished file."""
        return PendingFile(self._bucket, self._in_progress_path, self._path, self.size, checkpoint)

    def discard(self) -> None:
        """Close the file; remove it unless a checkpoint may resume it."""
        with contextlib.suppress(OSError):
            self._file.close()
        if not self.saved:
            self.pending(0).discard(self._files)


def _reopen(saved: InProgressFile) -> BinaryIO:
    try:
        with naming(saved.path):
            file = open(saved.in_progress_path, "r+b")  # noqa: SIM115 - closed by finish
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the checkpoint resumes the file {saved.in_progress_path}, which is gone: "
            f"{'it was finished later; ' if os.path.exists(saved.path) else ''}"
            "take the newest checkpoint, or begin without one"
        ) from error
    with naming(saved.path):
        length = file.seek(0, os.SEEK_END)
        if length < saved.size:
            file.close()
            raise OSError(
                f"{saved.in_progress_path} has {length} bytes, fewer than the {saved.size} "
                "that the checkpoint covers"
            )
        file.truncate(saved.size)
        file.seek(saved.size)
    return file


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Add the path to errors of the operating system."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot write the file {path}: {reason}") from error
