"""A checkpoint or savepoint in a folder: state files, and ``_metadata`` that makes it complete.

Files that several checkpoints have in common are beside their folders, in ``shared``.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, BinaryIO

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.folder import Folder, folder
from pyflink_on_spark._runtime.checkpoints.forked_records import ForkedRecords
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState
from pyflink_on_spark._runtime.checkpoints.state_file import (
    Record,
    StoredFile,
    stored_records,
    write_record,
)
from pyflink_on_spark._runtime.immutability import deserialize, serialize
from pyflink_on_spark._runtime.steps import step

METADATA = "_metadata"
COMMITTABLES = "committables"
SHARED = "shared"
_FORMAT = 3
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


@dataclass(frozen=True)
class Metadata:
    """What a checkpoint says of itself.

    Args:
        checkpoint_id: its number.
        job_id: of the job that wrote it.
        job_name: of that job.
        time: when, in ms since the epoch.
        savepoint: whether a user asked for it.
        files: the state of the slots; of each slot, the older first.
        committables: what the sinks have to commit with it.
    """

    checkpoint_id: int
    job_id: str
    job_name: str
    time: int
    savepoint: bool
    files: tuple[StateFile, ...]
    committables: StateFile


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


def complete(
    place: Folder,
    *,
    checkpoint_id: int,
    job_id: str,
    job_name: str,
    time: int,
    savepoint: bool,
    files: Sequence[StateFile],
    committables: list[Any],
) -> Metadata:
    """Make a checkpoint of state files that are written: from now on it can be restored."""
    file = _write(place, COMMITTABLES, serialize(committables))
    step("checkpoint: the committables are written")
    metadata = Metadata(checkpoint_id, job_id, job_name, time, savepoint, tuple(files), file)
    content = {"format": _FORMAT, **asdict(metadata)}
    text = json.dumps({**content, "checksum": _checksum(content)}, indent=1)
    _write(place, METADATA, text.encode())
    return metadata


def check_visible(place: Folder, files: Iterable[StateFile]) -> None:
    """Check that this process sees files that other processes have written.

    Raises:
        CheckpointError: one is missing, or has another size.
    """
    for file in files:
        where = file.folder(place)
        try:
            size = where.size(file.name)
        except FileNotFoundError as error:
            raise CheckpointError(
                f"a host has written {where.shown}/{file.name}, and the driver does not see it: "
                "all machines have to share the folder of the checkpoints "
                "(execution.checkpointing.dir)"
            ) from error
        except OSError as error:
            raise CheckpointError(f"cannot read {where.shown}/{file.name}: {error}") from error
        if size != file.size:
            raise _damaged(place, file, size)


def _checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def read_metadata(place: Folder) -> Metadata:
    """Read what a checkpoint says of itself.

    Raises:
        CheckpointError: if it is not there, incomplete or damaged.
    """
    try:
        content = json.loads(place.read(METADATA))
        checksum, computed = content.pop("checksum", None), _checksum(content)
        written = content.pop("format")
        if written != _FORMAT:
            raise CheckpointError(
                f"{place.shown}/{METADATA} is of another version: it has format {written}; here "
                f"keys are in the key groups of format {_FORMAT}; begin without it, or run the job "
                "with the version of pyflink_on_spark that wrote it"
            )
        if checksum not in (None, computed):
            raise ValueError("its content does not have its checksum")
        files = tuple(StateFile(**file) for file in content.pop("files"))
        committables = StateFile(**content.pop("committables"))
        return Metadata(files=files, committables=committables, **content)
    except FileNotFoundError as error:
        raise CheckpointError(
            f"there is no complete checkpoint in {place.shown}: {METADATA} is missing"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{place.shown}/{METADATA} is damaged: {error!r}") from error


def read_states(place: Folder, metadata: Metadata) -> SlotState:
    """Read what there is of the state of all slots; most of the state itself stays in the files.

    They are closed, and opened again when something of them is wanted.

    Raises:
        CheckpointError: if a file is missing or damaged.
    """
    whole = SlotState()
    for number, file in enumerate(metadata.files):
        where = f"{file.folder(place).shown}/{file.name}"
        stored = StoredFile(where, file.size, partial(_open, place, file), number)
        try:
            for head, content in stored_records(stored):
                whole.take(head, content)
        except CheckpointError:
            raise
        except Exception as error:
            raise CheckpointError(f"{where} cannot be taken over: {error!r}") from error
    return whole


def verify(place: Folder, metadata: Metadata) -> None:
    """Read all files to their ends.

    Raises:
        CheckpointError: if one is missing or damaged.
    """
    for file in metadata.files:
        checksum = 0
        with _open(place, file) as stream:
            while chunk := stream.read(_CHUNK):
                checksum = zlib.crc32(chunk, checksum)
        if checksum != file.checksum:
            raise _damaged(place, file, file.size)


def read_committables(place: Folder, metadata: Metadata) -> list[Any]:
    """Read what the sinks have to commit with a checkpoint."""
    committables: list[Any] = deserialize(_read(place, metadata.committables))
    return committables


def find_checkpoint(path: str, configuration: Mapping[str, str] | None = None) -> Folder:
    """Return the folder of a checkpoint that a user names: the folder, or its ``_metadata``.

    Args:
        path: of either.
        configuration: the job's; says how file systems are reached.
    """
    return folder(path.rstrip("/").removesuffix(f"/{METADATA}"), configuration or {})


def _write(place: Folder, name: str, content: bytes) -> StateFile:
    try:
        place.write(name, content)
    except OSError as error:
        raise CheckpointError(f"cannot write {place.shown}/{name}: {error}") from error
    return StateFile(name, len(content), zlib.crc32(content))


def _read(place: Folder, file: StateFile) -> bytes:
    with _open(place, file) as stream:
        content = stream.read()
    if zlib.crc32(content) != file.checksum:
        raise _damaged(place, file, len(content))
    return content


def _open(place: Folder, file: StateFile) -> BinaryIO:
    where = file.folder(place)
    try:
        stream = where.open(file.name)
        size = stream.seek(0, 2)
        stream.seek(0)
    except OSError as error:
        raise CheckpointError(f"cannot read {where.shown}/{file.name}: {error}") from error
    if size != file.size:
        stream.close()
        raise _damaged(place, file, size)
    return stream


def _damaged(place: Folder, file: StateFile, size: int) -> CheckpointError:
    return CheckpointError(
        f"{file.folder(place).shown}/{file.name} is damaged: {size} bytes that are not the "
        f"{file.size} bytes that were written"
    )
