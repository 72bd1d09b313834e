"""A part file: hidden while it is written, visible once it is committed."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class PendingFile:
    """A part file that is complete but not visible yet.

    Args:
        bucket: the folder of the bucket it belongs to.
        in_progress_path: where its bytes are.
        path: where they are to be.
        size: how many there are.
    """

    bucket: str
    in_progress_path: str
    path: str
    size: int

    def commit(self) -> None:
        """Make the file visible; a second time changes nothing.

        Raises:
            FileNotFoundError: if its bytes are gone.
        """
        try:
            with naming(self.path):
                os.replace(self.in_progress_path, self.path)
        except FileNotFoundError:
            if not os.path.exists(self.path):
                raise

    def discard(self) -> None:
        """Remove the file, if it is not visible yet."""
        with contextlib.suppress(FileNotFoundError), naming(self.in_progress_path):
            os.unlink(self.in_progress_path)


class PartFile:
    """The part file that a bucket currently writes to.

    Args:
        bucket: the folder of the bucket.
        path: what it will be called.
        now: the time in ms.

    Raises:
        OSError: if it cannot be made; names the path.
    """

    def __init__(self, bucket: str, path: str, now: int) -> None:
        self.size = 0
        self.created = self.last_written = now
        self._bucket = bucket
        self._path = path
        self._in_progress_path = in_progress_path(path)
        with naming(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._file = open(self._in_progress_path, "xb")  # noqa: SIM115 - closed by finish

    def write(self, content: bytes, now: int) -> None:
        """Append some bytes at a time in ms.

        Raises:
            OSError: if they cannot be written; names the path.
        """
        with naming(self._path):
            self._file.write(content)
        self.size += len(content)
        self.last_written = now

    def finish(self) -> PendingFile:
        """Close the file, and say what has to be committed.

        Raises:
            OSError: if the last bytes cannot be written; names the path.
        """
        with naming(self._path):
            self._file.close()
        return PendingFile(self._bucket, self._in_progress_path, self._path, self.size)

    def discard(self) -> None:
        """Close and remove the file."""
        with contextlib.suppress(OSError):
            self._file.close()
        PendingFile(self._bucket, self._in_progress_path, self._path, self.size).discard()


def in_progress_path(path: str) -> str:
    """Return a hidden path beside a path, another one at each call."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.inprogress.{uuid.uuid4()}")


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Let an error of the operating system say what could not be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot write the file {path}: {reason}") from error
