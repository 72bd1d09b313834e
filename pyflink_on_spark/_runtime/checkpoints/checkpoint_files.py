"""The files of a checkpoint: each is written whole, with a checksum, and may be signed.

The driver alone has the key. Hosts write digests beside what they write, the metadata list them,
and the driver signs the metadata. Hosts that restore get the digest of the metadata from the
driver.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import os
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._filesystem.location import is_remote, locate
from pyflink_on_spark._options.own import CHECKPOINT_KEY, CHECKPOINT_PERMISSIONS
from pyflink_on_spark._runtime.checkpoints.forked_records import ForkedRecords
from pyflink_on_spark._runtime.checkpoints.state_file import (
    FRAME,
    HeadsDigest,
    Record,
    RecordHead,
    StoredFile,
    contents_between,
    same_digest,
    write_record,
)
from pyflink_on_spark._runtime.contract.connector import LargeCommittable
from pyflink_on_spark._runtime.elements.time import step

_BUFFER = 1024 * 1024
SHARED = "shared"
_CHUNK = 1024 * 1024
_LEAST = 32
_PURPOSE = b"checkpoint of pyflink_on_spark\0"


class Folder:
    """A folder in which a file is complete and durable, or absent.

    Args:
        uri: a URI or a local path.
        configuration: the configuration of the job, which may say how to reach the file system.

    Raises:
        ValueError: there is no such file system, or it is read-only.
        ModuleNotFoundError: a package for the file system is missing.
    """

    def __init__(self, uri: str, configuration: Mapping[str, str] | None = None) -> None:
        self.uri = uri.rstrip("/")
        self._configuration = dict(configuration or {})
        path = unquote(self.uri) if self.uri.startswith("file:") else self.uri
        place = locate(path or "/", self._configuration)
        self.path = place.path
        """The absolute local path, or the URI without a password."""
        self._files = place.files
        self._private = CHECKPOINT_PERMISSIONS.read(self._configuration) == "PRIVATE"
        self.signed = CHECKPOINT_KEY.read(self._configuration) is not None
        """True if what is written here is signed, and nothing else is read."""
        if not self._files.writable:
            raise ValueError(f"checkpoints cannot be kept in {self.path}: it can only be read")

    @property
    def name(self) -> str:
        """The name of the folder in its parent."""
        return self.uri.rpartition("/")[2]

    def signer(self) -> Signer | None:
        """The signer of checkpoints in this folder; only the driver has its key.

        Raises:
            CheckpointError: there is no such key, or it is too short.
        """
        return signer_of(self._configuration)

    @property
    def shown(self) -> str:
        """The folder as error messages name it: without a password."""
        return self.path if is_remote(self.uri) else self.uri

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Write a file. The file appears at the end of the block, and never if the block fails.

        Object stores show a file when it is complete. On other file systems the file has a hidden
        name until it is complete and durable.
        """
        path = f"{self.path}/{name}"
        hidden = path if self._files.whole_files else f"{self.path}/.{name}.{uuid.uuid4().hex}"
        try:
            raw: Any = self._create(hidden)
            with io.BufferedWriter(raw, _BUFFER) as file:
                yield file
            self._files.make_durable(hidden)
            if hidden != path:
                self._files.rename(hidden, path)
                self._files.make_durable(self.path)
        except BaseException:
            with suppress(OSError):
                self._files.remove(hidden)
            raise

    def _create(self, path: str) -> BinaryIO:
        try:
            return self._files.create(path, private=self._private)
        except PermissionError as error:
            if self._private:
                error.add_note(
                    "checkpoints are private to the user of the process that writes them; "
                    f"{CHECKPOINT_PERMISSIONS.key}: umask lets the umask decide"
                )
            raise

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading at any place.

        Raises:
            FileNotFoundError: there is no such file.
        """
        raw: Any = self._files.open(f"{self.path}/{name}")
        return io.BufferedReader(raw, _BUFFER)

    def names(self) -> list[str]:
        """Return the names of the files and folders in this folder, if it exists."""
        return self._files.names(self.path)

    def remove(self, name: str = "") -> None:
        """Remove a file or folder in this folder, or this folder itself, if it exists."""
        path = f"{self.path}/{name}" if name else self.path
        with suppress(FileNotFoundError):
            if self._files.status(path).is_folder:
                self._files.remove_folder(path)
            else:
                self._files.remove(path)

    def write(self, name: str, content: bytes) -> None:
        """Write a file at once."""
        with self.create(name) as file:
            file.write(content)

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: there is no such file.
        """
        with self.open(name) as file:
            return file.read()

    def size(self, name: str) -> int:
        """Return the size of a file in bytes.

        Raises:
            FileNotFoundError: there is no such file.
        """
        return self._files.status(f"{self.path}/{name}").size

    def parent(self) -> Folder:
        """Return the folder that this one is in."""
        return type(self)(self.uri.rpartition("/")[0], self._configuration)

    def inside(self, name: str) -> Folder:
        """Return a folder in this one."""
        return type(self)(f"{self.uri}/{name}", self._configuration)

    def beside(self, name: str) -> Folder:
        """Return a folder next to this one."""
        return self.parent().inside(name)


def folder(uri: str, configuration: Mapping[str, str] | None = None) -> Folder:
    """Return the folder of a URI or a local path; see ``Folder``."""
    return Folder(uri, configuration)


@dataclass(frozen=True)
class StateFile:
    """A file of a checkpoint.

    Args:
        name: in its folder.
        size: in bytes.
        checksum: CRC-32 of its content.
        shared: whether it is in the folder of files that several checkpoints have in common.
        digest: SHA-256 of its content, of a file of records that of their heads, which have those
            of the contents; empty if the checkpoint is not signed.
    """

    name: str
    size: int
    checksum: int
    shared: bool = False
    digest: str = ""

    def folder(self, place: Folder) -> Folder:
        """Return where it is, for a checkpoint in a folder."""
        return place.beside(SHARED) if self.shared else place

    def open(self, place: Folder) -> BinaryIO:
        """Open the file of a checkpoint in a folder.

        Raises:
            CheckpointError: the file is missing, or has another size.
        """
        where = self.folder(place)
        try:
            stream = where.open(self.name)
            size = stream.seek(0, 2)
            stream.seek(0)
        except OSError as error:
            raise CheckpointError(f"cannot read {where.shown}/{self.name}: {error}") from error
        if size != self.size:
            stream.close()
            raise self.damaged(place, size)
        return stream

    def read(self, place: Folder) -> bytes:
        """Return the content of the file of a checkpoint in a folder.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        with self.open(place) as stream:
            content = stream.read()
        if zlib.crc32(content) != self.checksum:
            raise self.damaged(place, len(content))
        if self.digest and not same_digest(hashlib.sha256(content).hexdigest(), self.digest):
            raise CheckpointError(f"{place.shown}/{self.name} is not what was signed")
        return content

    def stored(self, place: Folder, number: int = 0) -> StoredFile:
        """The file as a file of records, for a checkpoint in a folder."""
        where = f"{self.folder(place).shown}/{self.name}"
        return StoredFile(where, self.size, partial(self.open, place), number, self.digest)

    def verify(self, place: Folder) -> None:
        """Read the file of a checkpoint in a folder to its end.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        if self.digest:
            try:
                for _ in contents_between(self.stored(place), 0, self.size):
                    pass
            except (OSError, ValueError) as error:
                raise CheckpointError(str(error)) from error
            return
        checksum = 0
        with self.open(place) as stream:
            while chunk := stream.read(_CHUNK):
                checksum = zlib.crc32(chunk, checksum)
        if checksum != self.checksum:
            raise self.damaged(place, self.size)

    def damaged(self, place: Folder, size: int) -> CheckpointError:
        """Return the error for a file that has so many bytes, which are not those written."""
        return CheckpointError(
            f"{self.folder(place).shown}/{self.name} is damaged: {size} bytes that are not the "
            f"{self.size} bytes that were written"
        )


class _Measured:
    """Notes size and checksum of a stream."""

    def __init__(self, stream: BinaryIO, digests: bool) -> None:
        self._stream = stream
        self.size = self.checksum = 0
        self.heads = HeadsDigest() if digests else None

    def write(self, content: bytes) -> None:
        """Write."""
        self._stream.write(content)
        self.size += len(content)
        self.checksum = zlib.crc32(content, self.checksum)
        if self.heads is not None:
            self.heads.update(content)


class StateFileWriter:
    """Writes the records of a state file; see ``state_file``."""

    def __init__(
        self, stream: BinaryIO, name: str, shared: bool, shown: str, digests: bool
    ) -> None:
        self._measured = _Measured(stream, digests)
        self._digests = digests
        self._name, self._shared, self._shown = name, shared, shown

    def write(self, record: Record) -> None:
        """Write a record.

        Raises:
            CheckpointError: if it cannot be written.
        """
        with self._explained():
            write_record(self._measured, record, digests=self._digests)

    def write_bytes(self, content: bytes) -> None:
        """Write a part of the bytes of records.

        Raises:
            CheckpointError: if it cannot be written.
        """
        with self._explained():
            self._measured.write(content)

    @property
    def size(self) -> int:
        """The number of bytes that are written."""
        return self._measured.size

    def append(self, records: ForkedRecords) -> None:
        """Write the records that another process makes; waits for them.

        Raises:
            CheckpointError: if they cannot be written.
        """
        with self._explained():
            records.copy_to(self._measured)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CheckpointError(f"cannot write {self._shown}: {error}") from error

    def result(self) -> StateFile:
        """Return the size and the checksum of the file, once it is closed."""
        measured = self._measured
        digest = "" if measured.heads is None else measured.heads.hexdigest()
        return StateFile(self._name, measured.size, measured.checksum, self._shared, digest)


@contextmanager
def state_file(place: Folder, name: str, *, shared: bool = False) -> Iterator[StateFileWriter]:
    """Open a state file of a checkpoint; after an exception nothing is left of the file.

    Args:
        place: the checkpoint's folder.
        name: the file's.
        shared: whether later checkpoints will refer to it, too.

    Raises:
        CheckpointError: if it cannot be written.
    """
    target = place.beside(SHARED) if shared else place
    shown = f"{target.shown}/{name}"
    try:
        with target.create(name) as stream:
            yield StateFileWriter(stream, name, shared, shown, place.signed)
    except OSError as error:
        raise CheckpointError(f"cannot write {shown}: {error}") from error


def write_whole(place: Folder, name: str, content: bytes) -> StateFile:
    """Write a file of a checkpoint at once.

    Raises:
        CheckpointError: the file cannot be written.
    """
    try:
        place.write(name, content)
    except OSError as error:
        raise CheckpointError(f"cannot write {place.shown}/{name}: {error}") from error
    digest = hashlib.sha256(content).hexdigest() if place.signed else ""
    return StateFile(name, len(content), zlib.crc32(content), digest=digest)


@dataclass(frozen=True)
class Signer:
    """Signs digests.

    Args:
        key: the secret.
    """

    key: bytes = field(repr=False)

    def sign(self, digest: str) -> str:
        """Make the signature of a digest."""
        return hmac.new(self.key, _PURPOSE + digest.encode(), hashlib.sha256).hexdigest()

    def has_signed(self, digest: str, signature: object) -> bool:
        """True if a signature is that of a digest."""
        return isinstance(signature, str) and hmac.compare_digest(
            self.sign(digest).encode(), signature.encode()
        )


def signer_of(configuration: Mapping[str, str]) -> Signer | None:
    """The signer with the key that a configuration names; None if it names none.

    Raises:
        CheckpointError: there is no such key, or it is too short.
    """
    where = CHECKPOINT_KEY.read(configuration)
    if where is None:
        return None
    key = _key(where).rstrip(b"\r\n")
    if len(key) < _LEAST:
        raise CheckpointError(
            f"the key of {CHECKPOINT_KEY.key} has {len(key)} bytes, and needs at least {_LEAST}; "
            "`openssl rand -hex 32` makes one"
        )
    return Signer(key)


def _key(where: str) -> bytes:
    kind, _, name = where.partition(":")
    if kind == "env":
        found = os.environ.get(name)
        if found is None:
            raise CheckpointError(
                f"{CHECKPOINT_KEY.key} names the environment variable {name}, which is not set"
            )
        return found.encode()
    try:
        return Path(unquote(urlsplit(where).path)).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{CHECKPOINT_KEY.key}: {error}") from error


Committables = list[tuple[object, object]]
"""Pairs of what names a sink and a committable."""
_FEW = 64 * 1024
"""So many bytes stay in the answer to the driver: a file costs some 10 ms on a local disk."""


@dataclass(frozen=True)
class StoredFrames:
    """The frames of a committable, read one at a time.

    Args:
        file: the file.
        begin: where the frames begin in the file.
        end: where they end.
        place: the folder of the checkpoint. Pickles do not contain it, so a checkpoint can be
            moved; ``in_folder`` adds it.
    """

    file: StateFile
    begin: int
    end: int
    place: Folder | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return StoredFrames, (self.file, self.begin, self.end)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the frames in order.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
        assert self.place is not None
        stored = self.file.stored(self.place)
        try:
            yield from contents_between(stored, self.begin, self.end)
        except (OSError, ValueError) as error:
            raise CheckpointError(f"cannot read {stored.where}: {error}") from error


def store_frames(committables: Sequence[Any], place: Folder, process: int) -> Committables:
    """Store the frames of committables in a file of a checkpoint, unless there are few bytes.

    Args:
        committables: those of one process.
        place: the folder of the checkpoint.
        process: the number of the process, which names the file.

    Returns:
        The committables without content in memory; few bytes stay in memory.

    Raises:
        CheckpointError: the file cannot be written.
    """
    if sum(map(_size, _large(committables))) <= _FEW:
        return [(sink, _in_memory(thing)) for sink, thing in committables]
    with state_file(place, f"committables-{process}") as writer:
        parts = [_write(writer, process, thing.frames) for thing in _large(committables)]
    step("state: the frames of committables are stored")
    file = writer.result()
    stored = (StoredFrames(file, begin, end, place) for begin, end in parts)
    return [
        (sink, replace(thing, frames=next(stored)))
        if isinstance(thing, LargeCommittable)
        else (sink, thing)
        for sink, thing in committables
    ]


def in_folder(committables: Sequence[Any], place: Folder) -> Committables:
    """Return committables that read their frames in the folder of their checkpoint."""
    return [
        (sink, _placed(thing, place) if isinstance(thing, LargeCommittable) else thing)
        for sink, thing in committables
    ]


def files_of_frames(committables: Sequence[object]) -> tuple[StateFile, ...]:
    """Return the files that committables read their frames in."""
    frames = (thing.frames for thing in _large(committables))
    return tuple(dict.fromkeys(each.file for each in frames if isinstance(each, StoredFrames)))


def _write(writer: StateFileWriter, process: int, frames: Iterable[bytes]) -> tuple[int, int]:
    """Write frames; return where they begin and end."""
    begin = writer.size
    for number, frame in enumerate(frames):
        writer.write((RecordHead(FRAME, "", process, number), frame))
    return begin, writer.size


def _large(committables: Sequence[Any]) -> Iterable[LargeCommittable]:
    return (thing for _, thing in committables if isinstance(thing, LargeCommittable))


def _size(thing: LargeCommittable) -> int:
    frames = thing.frames
    return frames.end - frames.begin if isinstance(frames, StoredFrames) else sum(map(len, frames))


def _in_memory(thing: object) -> object:
    if isinstance(thing, LargeCommittable) and isinstance(thing.frames, StoredFrames):
        return replace(thing, frames=tuple(thing.frames))
    return thing


def _placed(thing: LargeCommittable, place: Folder) -> LargeCommittable:
    frames = thing.frames
    if not isinstance(frames, StoredFrames):
        return thing
    return replace(thing, frames=replace(frames, place=place))
