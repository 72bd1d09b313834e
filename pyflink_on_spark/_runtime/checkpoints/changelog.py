"""Checkpoints that write only what has changed since the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from pyflink_on_spark._runtime.checkpoints.checkpoint import Metadata
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import SHARED, StateFile
from pyflink_on_spark._runtime.checkpoints.folder import Folder
from pyflink_on_spark._runtime.elements.clock import Clock

WHOLE, BASE, DELTA = "whole", "base", "delta"
_DELTAS = 100
"""How many deltas may follow a base. A hundredth of the state is then written with each checkpoint
on average, beside its changes; and who restores a slot opens 101 files, where each may be a request
to an object store."""


def file_name(contents: str, checkpoint_id: int, slot: int) -> str:
    """Return the name of a slot's state file.

    Args:
        contents: WHOLE, or BASE (whole, and what follows builds on it), or DELTA.
        checkpoint_id: the checkpoint's number.
        slot: which slot.
    """
    return f"slot-{slot}" if contents == WHOLE else f"{contents}-{checkpoint_id}-slot-{slot}"


class Changelog:
    """Decides when state is written whole, and knows the files that make up the last checkpoint.

    State is written whole ("materialised") at first, after a failure, from time to time, and when
    the changes have grown larger than what they change, or are in too many files.

    Args:
        interval: from time to time: how often in ms; None for never.
        clock: tells the time.
    """

    def __init__(self, interval: int | None, clock: Clock) -> None:
        self._interval, self._clock = interval, clock
        self._files: dict[int, list[StateFile]] = {}
        self._begun = 0

    def next(self) -> str:
        """Return what the next checkpoint writes: BASE or DELTA."""
        if not self._files:
            return BASE
        if self._interval is not None and self._clock.now() - self._begun >= self._interval:
            return BASE
        if max(map(len, self._files.values())) > _DELTAS:
            return BASE
        base = sum(files[0].size for files in self._files.values())
        changes = sum(file.size for files in self._files.values() for file in files[1:])
        return BASE if changes > base else DELTA

    def written(self, contents: str, files: Mapping[int, StateFile]) -> list[StateFile]:
        """Take note of the files of a checkpoint, by slot; return all that it consists of."""
        if contents == BASE:
            self._files, self._begun = {slot: [] for slot in files}, self._clock.now()
        for slot, file in files.items():
            self._files[slot].append(file)
        return [file for slot in sorted(self._files) for file in self._files[slot]]

    def broken(self) -> None:
        """Let the next checkpoint be a base: changes of a failed one may be lost."""
        self._files = {}


def remove_unneeded(place: Folder, kept: Iterable[Metadata]) -> None:
    """Remove the shared files that no checkpoint needs.

    Args:
        place: the folder of the job's checkpoints.
        kept: the checkpoints that are still there.
    """
    shared = place.inside(SHARED)
    needed = {file.name for metadata in kept for file in metadata.files if file.shared}
    with suppress(OSError):
        for name in shared.names():
            if name not in needed:
                shared.remove(name)
        if not needed:
            shared.remove()
