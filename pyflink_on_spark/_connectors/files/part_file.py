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
    """A part file that is complete but not visible yet. It is part of checkpoints.

    Args:
        bucket: the folder of the bucket it belongs to.
        in_progress_path: where its bytes are.
        path: where they are to be.
        size: how many there are.
        checkpoint: the number of the checkpoint that it belongs to.
    """

    bucket: str
    in_progress_path: str
    path: str
    size: int
    checkpoint: int = 0

    def commit(self, files: FileSystem = LOCAL) -> None:
        """Make the file visible; a second time changes nothing.

        Args:
            files: where it is.

        Raises:
            FileNotFoundError: if its bytes are gone.
        """
        try:
            with naming(self.path):
                files.rename(self.in_progress_path, self.path)
        except FileNotFoundError:
            if not files.exists(self.path):
                raise

    def discard(self, files: FileSystem = LOCAL) -> None:
        """Remove the file, if it is not visible yet."""
        with naming(self.in_progress_path):
            files.remove(self.in_progress_path)


@dataclass(frozen=True)
class InProgressFile:
    """What a checkpoint has of a part file that goes on after it.

    Args:
        bucket: the name of its bucket.
        in_progress_path: where its bytes are.
        path: where they are to be.
        size: how many of them the checkpoint covers.
        created: when it was begun, in ms.
        last_written: when it was last written to, in ms.
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
        in_progress_path: where its bytes are.
        path: what it will be called.
        now: the time in ms.
        files: where they are.

    Raises:
        OSError: if it cannot be made; names the path.
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
        """Go on with a local part file as a checkpoint has it: what came later is cut off.

        Raises:
            FileNotFoundError: if it is gone.
            OSError: if it is shorter than it was, or cannot be changed.
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
        """Whether a checkpoint may go on with it."""
        self._bucket, self._in_progress_path, self._path = bucket, in_progress_path, path

    def write(self, content: bytes, now: int) -> None:
        """Append some bytes at a time in ms.

        Raises:
            OSError: if they cannot be written; names the path.
        """
        with naming(self._path):
            self._file.write(content)
        self.size += len(content)
        self.last_written = now

    def save(self, bucket_name: str) -> InProgressFile:
        """Let all that was written reach the disk, and say what it takes to go on from here.

        Raises:
            OSError: if it cannot be written; names the path.
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
            OSError: if the last bytes cannot be written; names the path.
        """
        with naming(self._path):
            self._file.close()

    def sync(self) -> None:
        """Let all that was written reach the disk, once the file is finished.

        Raises:
            OSError: if it cannot be written; names the path.
        """
        with naming(self._path):
            self._files.make_durable(self._in_progress_path)

    def pending(self, checkpoint: int) -> PendingFile:
        """Say what has to be committed of a file that is finished."""
        return PendingFile(self._bucket, self._in_progress_path, self._path, self.size, checkpoint)

    def discard(self) -> None:
        """Close the file; remove it, unless a checkpoint may go on with it."""
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
            f"the checkpoint goes on writing {saved.in_progress_path}, which is gone: "
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
    """Let an error of the operating system say what could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot write the file {path}: {reason}") from error
