"""A checkpoint or savepoint in a folder: state files, and ``_metadata`` that makes it complete."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.folder import Folder, folder
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState
from pyflink_on_spark._runtime.isolation import seal, unseal

METADATA = "_metadata"
COMMITTABLES = "committables"
_FORMAT = 1


@dataclass(frozen=True)
class StateFile:
    """A file of a checkpoint.

    Args:
        name: in its folder.
        size: in bytes.
        checksum: CRC-32 of its content.
    """

    name: str
    size: int
    checksum: int


@dataclass(frozen=True)
class Metadata:
    """What a checkpoint says of itself.

    Args:
        checkpoint_id: its number.
        job_id: of the job that wrote it.
        job_name: of that job.
        time: when, in ms since the epoch.
        savepoint: whether a user asked for it.
        files: the state of the slots.
        committables: what the sinks have to commit with it.
    """

    checkpoint_id: int
    job_id: str
    job_name: str
    time: int
    savepoint: bool
    files: tuple[StateFile, ...]
    committables: StateFile


def write_state(place: Folder, slot: int, state: SlotState) -> StateFile:
    """Write the state of one slot."""
    return _write(place, f"slot-{slot}", state.to_bytes())


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
    file = _write(place, COMMITTABLES, seal(committables))
    metadata = Metadata(checkpoint_id, job_id, job_name, time, savepoint, tuple(files), file)
    text = json.dumps({"format": _FORMAT, **asdict(metadata)}, indent=1)
    place.write(METADATA, text.encode())
    return metadata


def read_metadata(place: Folder) -> Metadata:
    """Read what a checkpoint says of itself.

    Raises:
        CheckpointError: if it is not there, incomplete or damaged.
    """
    try:
        content = json.loads(place.read(METADATA))
        if content.pop("format") != _FORMAT:
            raise CheckpointError(f"{place.uri}/{METADATA} has a format of another version")
        files = tuple(StateFile(**file) for file in content.pop("files"))
        committables = StateFile(**content.pop("committables"))
        return Metadata(files=files, committables=committables, **content)
    except FileNotFoundError as error:
        raise CheckpointError(
            f"there is no complete checkpoint in {place.uri}: {METADATA} is missing"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{place.uri}/{METADATA} is damaged: {error!r}") from error


def read_states(place: Folder, metadata: Metadata) -> SlotState:
    """Read the state of all slots.

    Raises:
        CheckpointError: if a file is missing or damaged.
    """
    whole = SlotState()
    for file in metadata.files:
        content = _read(place, file)
        try:
            whole.merge(SlotState.from_bytes(content))
        except Exception as error:
            raise CheckpointError(
                f"{place.uri}/{file.name} cannot be taken over: {error!r}"
            ) from error
    return whole


def read_committables(place: Folder, metadata: Metadata) -> list[Any]:
    """Read what the sinks have to commit with a checkpoint."""
    committables: list[Any] = unseal(_read(place, metadata.committables))
    return committables


def find_checkpoint(path: str) -> Folder:
    """Return the folder of a checkpoint that a user names: the folder, or its ``_metadata``."""
    return folder(path.rstrip("/").removesuffix(f"/{METADATA}"))


def _write(place: Folder, name: str, content: bytes) -> StateFile:
    try:
        place.write(name, content)
    except OSError as error:
        raise CheckpointError(f"cannot write {place.uri}/{name}: {error}") from error
    return StateFile(name, len(content), zlib.crc32(content))


def _read(place: Folder, file: StateFile) -> bytes:
    try:
        content = place.read(file.name)
    except OSError as error:
        raise CheckpointError(f"cannot read {place.uri}/{file.name}: {error}") from error
    if len(content) != file.size or zlib.crc32(content) != file.checksum:
        raise CheckpointError(
            f"{place.uri}/{file.name} is damaged: {len(content)} bytes that are not the "
            f"{file.size} bytes that were written"
        )
    return content
