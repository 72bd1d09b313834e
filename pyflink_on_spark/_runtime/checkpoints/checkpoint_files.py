"""The files of a checkpoint: each is written whole, and has a size and a checksum."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.folder import Folder
from pyflink_on_spark._runtime.checkpoints.forked_records import ForkedRecords
from pyflink_on_spark._runtime.checkpoints.state_file import Record, write_record

SHARED = "shared"
_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class StateFile:
    """A file of a checkpoint.

    Args:
        name: in its folder.
        size: in bytes.
        checksum: CRC-32 of its content.
        shared: whether it is in the folder of files that several checkpoints have in common.
    """

    name: str
    size: int
    checksum: int
    shared: bool = False

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
        return content

    def verify(self, place: Folder) -> None:
        """Read the file of a checkpoint in a folder to its end.

        Raises:
            CheckpointError: the file is missing or damaged.
        """
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
    """Notes size and checksum of what is written to a stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = self.checksum = 0

    def write(self, content: bytes) -> None:
        """Write."""
        self._stream.write(content)
        self.size += len(content)
        self.checksum = zlib.crc32(content, self.checksum)


class StateFileWriter:
    """Writes the records of a state file; see ``state_file``."""

    def __init__(self, stream: BinaryIO, name: str, shared: bool, shown: str) -> None:
        self._measured = _Measured(stream)
        self._name, self._shared, self._shown = name, shared, shown

    def write(self, record: Record) -> None:
        """Write a record.

        Raises:
            CheckpointError: if it cannot be written.
        """
        with self._explained():
            write_record(self._measured, record)

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
        """Return what is known of the file, once it is closed."""
        measured = self._measured
        return StateFile(self._name, measured.size, measured.checksum, self._shared)


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
            yield StateFileWriter(stream, name, shared, shown)
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
    return StateFile(name, len(content), zlib.crc32(content))
