"""The frames of large committables in a checkpoint's file, and the named steps of checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    Folder,
    StateFile,
    StateFileWriter,
    state_file,
)
from pyflink_on_spark._runtime.checkpoints.state_file import FRAME, RecordHead, contents_between
from pyflink_on_spark._runtime.contract.connector.sink import LargeCommittable

Committables = list[tuple[Any, Any]]
"""Pairs of what names a sink and a committable."""
_FEW = 64 * 1024
"""So many bytes stay in the answer to the driver: a file costs some 10 ms on a local disk."""
_watchers: list[Callable[[str], None]] = []


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


def step(name: str) -> None:
    """Note that a step of the protocol is done; nothing happens unless somebody watches.

    Args:
        name: a literal, and another one for each place in the code.
    """
    for watcher in _watchers:
        watcher(name)


def watch(watcher: Callable[[str], None]) -> Callable[[], None]:
    """Call a function at each step of this process; return what ends that.

    Args:
        watcher: gets the name of the step; what it raises comes out of the step.
    """
    _watchers.append(watcher)
    return lambda: _watchers.remove(watcher)
