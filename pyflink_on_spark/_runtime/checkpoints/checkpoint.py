"""A checkpoint or savepoint in a folder, and the checks before a job restores from one.

Files that several checkpoints have in common are beside their folders, in ``shared``.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._options.own import CHANGED_STATE, CHECKPOINT_KEY, DROP, REFUSE, TAKE
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    SHARED,
    Folder,
    StateFile,
    files_of_frames,
    folder,
    in_folder,
    write_whole,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    SlotState,
    TaskStateSnapshot,
    positions_of,
    shares,
    stateful_operators,
)
from pyflink_on_spark._runtime.checkpoints.state_file import same_digest, stored_records
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.contract.state_meaning import Heirs, Meanings, StateMeaning, heirs_of
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.elements.time import step

METADATA = "_metadata"
COMMITTABLES = "committables"
OWNER = "_owner"
"""The file, beside checkpoints, that names the job which has continued from one of them."""
_FORMAT = 5
"""The format whose committables have all their content in ``committables``."""
_DEPTH = 2
"""A savepoint is in the folder of savepoints, a checkpoint in a folder of its job."""


@dataclass(frozen=True)
class Metadata:
    """The header of a checkpoint: its number, its job, its time and its files.

    Args:
        checkpoint_id: its number.
        job_id: of the job that wrote it.
        job_name: of that job.
        time: when, in ms since the epoch.
        savepoint: whether a user asked for it.
        files: the state of the slots; of each slot, the older first.
        committables: what the sinks have to commit with it.
        frames: the content of large committables.
        meanings: what the state of operators means, as ``StateMeaning.to_json`` has it; by the
            stable name of each.
    """

    checkpoint_id: int
    job_id: str
    job_name: str
    time: int
    savepoint: bool
    files: tuple[StateFile, ...]
    committables: StateFile
    frames: tuple[StateFile, ...] = ()
    meanings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data_files(self) -> tuple[StateFile, ...]:
        """The files that hosts have written."""
        return self.files + self.frames

    def to_json(self) -> dict[str, object]:
        """The content of ``_metadata``, without checksum and signature."""
        content = {"format": _FORMAT, **asdict(self)}
        for file in (*content["files"], *content["frames"], content["committables"]):
            if not file["digest"]:
                del file["digest"]
        return content

    def digest(self) -> str:
        """The SHA-256 of the content."""
        return hashlib.sha256(_canonical(self.to_json())).hexdigest()

    @property
    def state_meanings(self) -> Meanings:
        """The meanings of operators' state, by the stable name of each."""
        return {name: StateMeaning.from_json(found) for name, found in self.meanings.items()}


class Copied(NamedTuple):
    """The committables of a checkpoint as they are in its files.

    Args:
        pickled: what names the sinks, with the committables.
        frames: the files with the content of large ones.
    """

    pickled: bytes
    frames: tuple[StateFile, ...]


def complete(
    place: Folder,
    *,
    checkpoint_id: int,
    job_id: str,
    job_name: str,
    time: int,
    savepoint: bool,
    files: Sequence[StateFile],
    committables: list[Any] | Copied,
    meanings: Meanings | None = None,
) -> Metadata:
    """Make a checkpoint of state files that are written: from now on it can be restored."""
    signer = place.signer()
    if not isinstance(committables, Copied):
        committables = Copied(serialize(committables), files_of_frames(committables))
    file = write_whole(place, COMMITTABLES, committables.pickled)
    step("checkpoint: the committables are written")
    told = {name: meaning.to_json() for name, meaning in (meanings or {}).items()}
    metadata = Metadata(
        checkpoint_id,
        job_id,
        job_name,
        time,
        savepoint,
        tuple(files),
        file,
        committables.frames,
        told,
    )
    content = metadata.to_json()
    seal: dict[str, object] = {"checksum": _checksum(content)}
    if signer is not None:
        seal["signature"] = signer.sign(metadata.digest())
    write_whole(place, METADATA, json.dumps({**content, **seal}, indent=1).encode())
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
            raise file.damaged(place, size)


def _checksum(content: Mapping[str, object]) -> int:
    return zlib.crc32(_canonical(content))


def _canonical(content: Mapping[str, object]) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def read_metadata(place: Folder, digest: str = "") -> Metadata:
    """Read the metadata of a checkpoint.

    Args:
        place: its folder; if that has a key, the key must have signed the checkpoint.
        digest: of the metadata that the driver has written, or found to be signed; with it, the
            signature is not looked at.

    Raises:
        CheckpointError: if it is not there, incomplete or damaged, or not signed with the key.
    """
    signer = None if digest else place.signer()
    try:
        content = json.loads(place.read(METADATA))
        signature = content.pop("signature", None)
        checksum, computed = content.pop("checksum", None), _checksum(content)
        written = content.pop("format")
        if written != _FORMAT:
            raise CheckpointError(
                f"{place.shown}/{METADATA} is of another version: it has format {written}, and "
                f"this version reads the format {_FORMAT}; begin without it, or run the job with "
                "the version of pyflink_on_spark that wrote it"
            )
        if checksum != computed:
            raise ValueError("its content does not have its checksum")
        files = tuple(StateFile(**file) for file in content.pop("files"))
        frames = tuple(StateFile(**file) for file in content.pop("frames", ()))
        committables = StateFile(**content.pop("committables"))
        metadata = Metadata(files=files, committables=committables, frames=frames, **content)
        if any("/" in file.name for file in (*metadata.data_files, committables)):
            raise ValueError("it names a file in another folder")
        metadata.state_meanings  # noqa: B018 - fails if one of them is no such thing
        if digest or signer is not None:
            found = metadata.digest()
            if digest and not same_digest(found, digest):
                raise CheckpointError(f"{place.shown} has changed since the driver has read it")
            if signer is not None and not signer.has_signed(found, signature):
                raise _not_signed(place, signature is not None)
        if place.signed and not all(f.digest for f in (*metadata.data_files, committables)):
            raise _not_signed(place, True)
        return metadata
    except FileNotFoundError as error:
        raise CheckpointError(
            f"there is no complete checkpoint in {place.shown}: {METADATA} is missing"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}({str(error)!r})"
        raise CheckpointError(f"{place.shown}/{METADATA} is damaged: {reason}") from error


def _not_signed(place: Folder, otherwise: bool) -> CheckpointError:
    how = "is signed with another key, or was changed" if otherwise else "is not signed"
    return CheckpointError(
        f"{place.shown} {how}; a job with {CHECKPOINT_KEY.key} begins only with what its key has "
        "signed. `python -m pyflink_on_spark state PATH --write NEW --sign KEY` signs a copy of "
        "what you trust."
    )


def read_states(place: Folder, metadata: Metadata) -> SlotState:
    """Read the state of all slots; most of its content stays in the files.

    They are closed, and opened again when something of them is wanted.

    Raises:
        CheckpointError: if a file is missing or damaged.
    """
    whole = SlotState()
    for number, file in enumerate(metadata.files):
        stored = file.stored(place, number)
        where = stored.where
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
    for file in metadata.data_files:
        file.verify(place)


def read_committables(
    place: Folder, metadata: Metadata, load: Callable[[bytes], Any] = deserialize
) -> list[Any]:
    """Read the committables of a checkpoint, without the frames.

    Args:
        place: its folder.
        metadata: its metadata.
        load: makes objects of bytes; the default runs code that is in them.
    """
    return in_folder(load(metadata.committables.read(place)), place)


def find_checkpoint(path: str, configuration: Mapping[str, str] | None = None) -> Folder:
    """Return the folder of a checkpoint that a user names: the folder, or its ``_metadata``.

    Args:
        path: of either.
        configuration: the job's; says how file systems are reached.
    """
    return folder(path.rstrip("/").removesuffix(f"/{METADATA}"), configuration or {})


def latest_checkpoint(*folders: str, configuration: Mapping[str, str] | None = None) -> str | None:
    """Return the path of the latest complete checkpoint or savepoint.

    Of one job that is the one with the highest number, of several jobs that of the job which has
    continued from the others, or else the youngest.

    Args:
        folders: folders of checkpoints (``execution.checkpointing.dir``) and savepoints
            (``execution.checkpointing.savepoint-dir``) of one job; those that do not exist are
            empty.
        configuration: says how file systems are reached.

    Returns:
        None if there is none.

    Raises:
        CheckpointError: one is damaged, or of another version.
    """
    newest: dict[str, tuple[Metadata, str]] = {}
    heirs: dict[str, str] = {}
    for name in folders:
        for place in _places(folder(name, configuration), _DEPTH):
            for metadata in _complete(place):
                job = metadata.job_id
                known = newest.get(job)
                # The clock may have been set back while the job ran.
                if known is None or metadata.checkpoint_id > known[0].checkpoint_id:
                    newest[job] = metadata, place.uri
                if not metadata.savepoint and (heir := owner_of(place.parent())) != job:
                    heirs[job] = heir
    last = [job for job in newest if heirs.get(job) not in newest] or newest
    found = [(newest[job][0].time, newest[job][0].checkpoint_id, newest[job][1]) for job in last]
    return max(found)[2] if found else None


def owner_of(home: Folder) -> str:
    """The id of the job that has continued from a checkpoint in a folder; empty without one."""
    try:
        return home.read(OWNER).decode(errors="replace").partition("\n")[0]
    except FileNotFoundError:
        return ""


def _places(place: Folder, depth: int) -> Iterator[Folder]:
    names = place.names()
    if METADATA in names:
        yield place
    elif depth:
        for name in names:
            if name != SHARED and not name.startswith("."):
                yield from _places(place.inside(name), depth - 1)


def _complete(place: Folder) -> Iterator[Metadata]:
    try:
        yield read_metadata(place)
    except CheckpointError as error:
        if not isinstance(error.__cause__, FileNotFoundError):  # it was removed meanwhile
            raise


class Restore(NamedTuple):
    """The checkpoint from which an attempt restores its state.

    Args:
        checkpoint_id: the checkpoint's number.
        where: its folder, or its content.
        names: the stable names that operators and sources have in the job, by those in the
            checkpoint, where they differ; None for what the job leaves out.
        digest: of its metadata; empty if the content is here.
    """

    checkpoint_id: int
    where: str | bytes
    names: Mapping[str, str | None] = {}
    digest: str = ""


def restored_states(
    restore: Restore,
    stages: Sequence[StagePlan],
    slots: Iterable[int],
    configuration: Mapping[str, str],
) -> dict[int, TaskStateSnapshot]:
    """Return the state of each subtask of some slots in a checkpoint, by its number.

    Args:
        restore: the checkpoint.
        stages: those of the job.
        slots: those of the host that asks.
        configuration: says how to reach the folder.
    """
    whole, savepoint = _whole(restore, configuration)
    found: dict[int, TaskStateSnapshot] = {}
    for slot in slots:
        found |= shares(stages, slot, whole, restore.checkpoint_id, savepoint=savepoint)
    return found


def restored_positions(
    restore: Restore,
    sources: Collection[str],
    configuration: Mapping[str, str],
) -> dict[str, list[object]]:
    """Return all that a checkpoint has of some sources, by their stable names.

    Args:
        restore: the checkpoint.
        sources: the stable names.
        configuration: says how to reach the folder.
    """
    if not sources:
        return {}
    whole, _ = _whole(restore, configuration)
    return {
        name: positions_of(contents.values())
        for name, contents in whole.sources.items()
        if name in sources
    }


def _whole(restore: Restore, configuration: Mapping[str, str]) -> tuple[SlotState, bool]:
    """Return the state of all slots under the job's names, and whether it is of a savepoint."""
    where, savepoint = restore.where, False
    if isinstance(where, bytes):
        whole = SlotState.from_bytes(where)
    else:
        place = find_checkpoint(where, configuration)
        metadata = read_metadata(place, restore.digest)
        whole, savepoint = read_states(place, metadata), metadata.savepoint
    return whole.renamed(restore.names), savepoint


@dataclass(frozen=True)
class JobLayout:
    """The owners of state in a job, by their stable names.

    Args:
        operators: with the number of key groups of each.
        sources: those that have positions.
        sinks: those that commit.
        adaptable: the operators that may have as many key groups as the checkpoint has.
        meanings: what their state means, as far as that is known.
    """

    operators: Mapping[str, int]
    sources: Collection[str]
    sinks: Collection[str]
    adaptable: Collection[str] = ()
    meanings: Meanings = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """The checkpoint from which a job is to begin.

    Args:
        where: the checkpoint's name, for errors.
        state: of all its slots.
        committables: what sinks have to commit with it, each with the sink's name.
        meanings: what the state of operators means, as far as the checkpoint says it.
    """

    where: str
    state: SlotState
    committables: Collection[tuple[str, object]] = ()
    meanings: Meanings = field(default_factory=dict)

    def heirs(self, owners: JobLayout) -> Heirs:
        """Return who takes over what in a job."""
        operators = stateful_operators(self.state)
        sinks = {name for name, _ in self.committables}
        names = dict.fromkeys([*operators, *self.state.sources, *sorted(sinks)])
        own = [name for name in operators if name not in sinks]
        return heirs_of(names, self.meanings, owners.meanings, own)


def check_restore(
    found: Found,
    owners: JobLayout,
    *,
    ignore_unclaimed: bool,
    changed: str = REFUSE,
) -> Heirs:
    """Make sure that all of a checkpoint has an owner in the job that begins with it.

    Args:
        found: the checkpoint.
        owners: the job's.
        ignore_unclaimed: whether what has no owner may be left out.
        changed: what happens to state that means something else in the job, as the option says.

    Returns:
        Who takes over what.

    Raises:
        CheckpointError: if something has no owner, has another number of key groups, or means
            something else.
    """
    for misfit in misfits(found, owners, ignore_unclaimed=ignore_unclaimed, changed=changed):
        raise CheckpointError(misfit)
    heirs = found.heirs(owners)
    return heirs.without_changed() if changed == DROP else heirs


def misfits(
    found: Found,
    owners: JobLayout,
    *,
    ignore_unclaimed: bool,
    changed: str = REFUSE,
) -> Iterator[str]:
    """Yield why a job cannot begin with a checkpoint, each reason a sentence or some lines.

    Args:
        found: the checkpoint.
        owners: the job's.
        ignore_unclaimed: whether what has no owner may be left out.
        changed: what happens to state that means something else in the job, as the option says.
    """
    where, heirs = found.where, found.heirs(owners)
    if changed == REFUSE:
        for name in heirs.changed:
            now = heirs.name(name) or name
            at = "" if now == name else f", where it would be that of {now!r}"
            yield (
                f"{where} has state of {name!r} that means something else in this job{at}.\n"
                f"  There: {found.meanings[name]}\n"
                f"  Here: {owners.meanings[now]}\n"
                f"Begin with the program that wrote it, or without it. {CHANGED_STATE.key}={DROP} "
                f"lets such operators start empty, and {TAKE} lets them continue with what is "
                "there, which gives wrong results unless both mean the same to you."
            )
    if not ignore_unclaimed:
        for what in unclaimed(found, owners):
            yield (
                f"{where} has {what}, which this job has not. Give operators, sources and sinks a "
                "uid() that stays, or set execution.state-recovery.ignore-unclaimed-state to leave "
                "out what belongs to none."
            )
    for stored, maximum in stateful_operators(found.state).items():
        heir = heirs.name(stored)
        if heir is None or (changed == DROP and stored in heirs.changed):
            continue
        groups = owners.operators.get(heir, maximum)
        if groups != maximum and heir not in owners.adaptable:
            yield (
                f"{where} was written with a max parallelism of {maximum} for {heir!r}; "
                f"the job has {groups}. Set it with set_max_parallelism({maximum})."
            )


def unclaimed(found: Found, owners: JobLayout) -> Iterator[str]:
    """Yield a description of each part of a checkpoint that has no owner in the job."""
    heirs = found.heirs(owners)

    def lost(names: Iterable[str], known: Collection[str]) -> Iterator[str]:
        return (name for name in names if heirs.name(name) not in known)

    for name in lost(stateful_operators(found.state), owners.operators):
        meaning = found.meanings.get(name)
        yield f"state of the operator {name!r}" + (f" ({meaning})" if meaning else "")
    # No positions at all say something, too: that a source was read to its end.
    for name in lost(found.state.sources, owners.sources):
        yield f"the positions of the source {name!r}"
    for name in lost((name for name, _ in found.committables), owners.sinks):
        yield f"what is to be committed by the sink {name!r}"
