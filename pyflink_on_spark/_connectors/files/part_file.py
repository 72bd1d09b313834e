"""A part file: hidden while it is written, visible once it is committed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import uuid
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL

_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class PendingFile:
    """A part file that is complete but not visible yet: the committable of the sink.

    Args:
        bucket: the folder of the bucket.
        in_progress_path: the hidden path of the file.
        path: the final path.
        size: the size in bytes.
        checkpoint: the number of the checkpoint that the file belongs to.
        saved: whether an earlier checkpoint may resume the file.
        originals: the hidden paths of the files that it continues.
    """

    bucket: str
    in_progress_path: str
    path: str
    size: int
    checkpoint: int = 0
    saved: bool = False
    originals: tuple[str, ...] = ()

    def commit(self, files: FileSystem = LOCAL) -> None:
        """Make the file visible. Idempotent.

        Args:
            files: the file system.

        Raises:
            FileNotFoundError: the file exists neither under the hidden nor under the final path.
            OSError: the hidden file does not have the size with which it was finished.
        """
        try:
            with naming(self.path):
                self.check(self.in_progress_path, files)
                files.rename(self.in_progress_path, self.path)
        except FileNotFoundError:
            if not files.exists(self.path):
                raise
        self.remove_originals(files)

    def check(self, hidden: str, files: FileSystem = LOCAL) -> None:
        """Check that the file has the size with which it was finished.

        Args:
            hidden: where it is.
            files: the file system.

        Raises:
            FileNotFoundError: there is no such file.
            OSError: it has another size.
        """
        size = files.status(hidden).size
        if size != self.size:
            raise OSError(
                f"{hidden} has {size} bytes, and had {self.size} when it was finished, so it does "
                f"not become {self.path}: something has changed it meanwhile"
            )

    def remove_originals(self, files: FileSystem = LOCAL) -> None:
        """Remove the files that this one continues, and which no job needs any more."""
        self._remove(self.originals, files)

    def discard(self, files: FileSystem = LOCAL) -> None:
        """Remove the file if it is not visible yet, and no checkpoint may resume it."""
        if not self.saved:
            self._remove([self.in_progress_path], files)

    def remove(self, files: FileSystem = LOCAL) -> None:
        """Remove the file, whose content is visible elsewhere."""
        self._remove([self.in_progress_path, *self.originals], files)

    def _remove(self, paths: Iterable[str], files: FileSystem) -> None:
        with naming(self.path):
            for path in paths:
                files.remove(path)


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
        originals: the hidden paths of the files that it continues.
    """

    bucket: str
    in_progress_path: str
    path: str
    size: int
    created: int
    last_written: int
    originals: tuple[str, ...] = ()


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
        self.size = 0
        self.saved = False
        """True if a checkpoint may resume the file."""
        self.created = self.last_written = now
        self._files = files
        self._bucket, self._in_progress_path, self._path = bucket, in_progress_path, path
        self._originals: tuple[str, ...] = ()
        with naming(path):
            self._file: BinaryIO = files.create(in_progress_path)

    @classmethod
    def resume(cls, bucket: str, in_progress_path: str, saved: InProgressFile) -> PartFile:
        """Continue a local part file in a copy of the part that the checkpoint covers.

        The original stays until the copy is committed. A process that lost the job without knowing
        may still write to the original.

        Args:
            bucket: the folder of the bucket.
            in_progress_path: the hidden path of the copy.
            saved: the entry of the snapshot.

        Raises:
            FileNotFoundError: the original does not exist any more.
            OSError: the original is shorter than the checkpoint says, or no copy can be written.
        """
        part = cls(bucket, in_progress_path, saved.path, saved.last_written)
        part.created = saved.created
        part._originals = (*saved.originals, saved.in_progress_path)
        try:
            _copy(saved, part._file)
        except BaseException:
            part.discard()
            raise
        part.size = saved.size
        return part

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
        """Write all bytes to the disk, and return the data from which the file can be resumed.

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
            self._originals,
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
        return PendingFile(
            self._bucket,
            self._in_progress_path,
            self._path,
            self.size,
            checkpoint,
            self.saved,
            self._originals,
        )

    def discard(self) -> None:
        """Close the file; remove it unless a checkpoint may resume it."""
        with contextlib.suppress(OSError):
            self._file.close()
        self.pending(0).discard(self._files)


def _copy(saved: InProgressFile, target: BinaryIO) -> None:
    """Copy as many bytes of a part file as the checkpoint covers."""
    if not os.path.exists(saved.in_progress_path):
        raise FileNotFoundError(
            f"the checkpoint resumes the file {saved.in_progress_path}, which is gone: "
            f"{'it was finished later; ' if os.path.exists(saved.path) else ''}"
            "take the newest checkpoint, or begin without one"
        )
    with naming(saved.path), open(saved.in_progress_path, "rb") as original:
        length = os.fstat(original.fileno()).st_size
        if length < saved.size:
            raise OSError(
                f"{saved.in_progress_path} has {length} bytes, fewer than the {saved.size} "
                "that the checkpoint covers"
            )
        left = saved.size
        while left > 0:
            content = original.read(min(left, _CHUNK))
            target.write(content)
            left -= len(content)


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


_IN_PROGRESS = re.compile(r"\..*\.inprogress\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_MARK = ".savepoint"
_FAMILY_DIGITS, _RUN_DIGITS = 12, 8


@dataclass(frozen=True)
class Owner:
    """The writer of a file in progress, which is encoded in the id in the file's name.

    Args:
        family: the sink in all attempts of a job, and in jobs that resume from its checkpoints.
        run: the sink in one attempt.
    """

    family: str
    run: str

    @classmethod
    def of(cls, sink: str, attempt: int) -> Owner:
        """Return the owner for a sink of a job that starts without a checkpoint.

        Args:
            sink: the unique id of the sink.
            attempt: the number of restarts.
        """
        run = hashlib.sha256(f"{sink} {attempt}".encode()).hexdigest()[:_RUN_DIGITS]
        return cls(hashlib.sha256(sink.encode()).hexdigest()[:_FAMILY_DIGITS], run)

    def in_progress_path(self, path: str) -> str:
        """Return a hidden path in the same folder, a different one at each call."""
        digits = uuid.uuid4().hex
        name = self.family + digits[_FAMILY_DIGITS:-_RUN_DIGITS] + self.run
        return _hidden(path, str(uuid.UUID(name)))


def in_progress_path(path: str) -> str:
    """Return the hidden path of a file that one process at a time writes: always the same."""
    return _hidden(path, str(uuid.uuid5(uuid.NAMESPACE_URL, path)))


def mark_of(in_progress_path: str) -> str:
    """Return the path of the empty file that marks a file in progress as part of a savepoint."""
    return in_progress_path + _MARK


def leftovers(
    base_path: str,
    owner: Owner,
    families: Collection[str],
    needed: set[str],
    runs: Collection[str] | None = None,
    files: FileSystem = LOCAL,
) -> list[str]:
    """Return the files in progress that earlier attempts have left under a folder.

    Args:
        base_path: the folder.
        owner: the current writer, which may have written files already.
        families: the families of the earlier attempts.
        needed: the paths of files that are not left over.
        runs: the runs of the earlier attempts; None if it is not known which there were.
        files: the file system.
    """
    found = []
    for path, (family, run) in _in_progress(base_path, files):
        earlier = run != owner.run and (runs is None or run in runs)
        if earlier and family in families and path not in needed:
            found.append(path)
    return found


def files_of_runs(base_path: str, runs: Collection[str], files: FileSystem = LOCAL) -> list[str]:
    """Return the files in progress of some runs under a folder, whichever sink wrote them.

    Args:
        base_path: the folder.
        runs: the runs of their owners.
        files: the file system.
    """
    return [path for path, (_, run) in _in_progress(base_path, files) if run in runs]


def _in_progress(base_path: str, files: FileSystem) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the files in progress under a folder, with the digits of family and run."""
    for path in files.all_files(base_path):
        name = _IN_PROGRESS.fullmatch(os.path.basename(path))
        if name is not None:
            digits = name.group(1).replace("-", "")
            yield path, (digits[:_FAMILY_DIGITS], digits[-_RUN_DIGITS:])


def remove_leftovers(paths: Collection[str], files: FileSystem = LOCAL) -> None:
    """Remove what ``leftovers`` or ``files_of_runs`` returned.

    Files of a savepoint stay, because a job may start from the savepoint at any time.
    """
    for path in paths:
        if not files.exists(mark_of(path)):
            files.remove(path)


def _hidden(path: str, unique: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.inprogress.{unique}")
