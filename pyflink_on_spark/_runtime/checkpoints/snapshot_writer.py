"""Writes the state of the subtasks of one process for a checkpoint, one subtask after the other."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from pyflink_on_spark._runtime.checkpoints.checkpoint import Metadata
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    SHARED,
    Committables,
    Folder,
    StateFile,
    StateFileWriter,
    folder,
    state_file,
    store_frames,
)
from pyflink_on_spark._runtime.checkpoints.forked_records import (
    CopyUnusable,
    ForkedRecords,
    can_fork,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    SlotState,
    TaskStateSnapshot,
    records_of,
)
from pyflink_on_spark._runtime.checkpoints.state_file import Record
from pyflink_on_spark._runtime.elements.time import Clock, step
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend

WHOLE, BASE, DELTA = "whole", "base", "delta"
_DELTAS = 100
"""How many deltas may follow a base. A hundredth of the state is then written with each checkpoint
on average, beside its changes; and who restores a slot opens 101 files, where each may be a request
to an object store."""
_TAKEN: dict[str, Callable[[KeyedStateBackend], object]] = {
    WHOLE: KeyedStateBackend.pieces,
    BASE: KeyedStateBackend.base_pieces,
    DELTA: KeyedStateBackend.change_pieces,
}
FEW_ENTRIES = 10_000
"""So many entries are written about as fast as a process is copied."""


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
        """Return the kind of the next snapshot: BASE or DELTA."""
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


class SnapshotWriter:
    """Takes the state of subtasks, into a file or into memory.

    Args:
        checkpoint_id: the checkpoint's number.
        where: the URI of the checkpoint's folder; None for memory.
        contents: WHOLE, BASE or DELTA.
        process: the number of the process, which names the file.
        configuration: the job's; says how file systems are reached.
        few: how many entries of a subtask are written at once; copies of this process write more.
            None if no copy is to be made.
    """

    def __init__(
        self,
        checkpoint_id: int,
        where: str | None,
        contents: str,
        process: int,
        configuration: Mapping[str, str],
        few: int | None = None,
    ) -> None:
        self.taken = _TAKEN[contents]
        """The snapshot of keyed state."""
        self._state = SlotState()
        self._stack = ExitStack()
        self._file: StateFileWriter | None = None
        self._copies: list[ForkedRecords] = []
        self._place: Folder | None = None
        self._process = process
        self._few = few if can_fork() else None
        self._abandoned: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._result: tuple[StateFile | bytes, Committables] | BaseException | None = None
        if where is not None:
            name = file_name(contents, checkpoint_id, process)
            self._place = folder(where, configuration)
            self._file = self._stack.enter_context(
                state_file(self._place, name, shared=contents != WHOLE)
            )

    def write(self, index: int, state: TaskStateSnapshot) -> None:
        """Take the state of a subtask as it is now.

        Raises:
            CheckpointError: if it cannot be written.
        """
        step("state: a subtask gives it")
        much = self._few is not None and state.entries > self._few
        if self._file is None or not much or not self._copied(index, state):
            self._write(records_of(index, state))
        state.note_taken()

    def _copied(self, index: int, state: TaskStateSnapshot) -> bool:
        """Let a copy of this process write the state of a subtask; tell whether one can."""
        try:
            digests = self._place is not None and self._place.signed
            records = records_of(index, state)
            self._copies.append(ForkedRecords(records, state.files, digests=digests))
        except CopyUnusable:
            return False
        return True

    def _write(self, records: Iterable[Record]) -> None:
        with without_collector():
            for record in records:
                if self._file is None:
                    self._state.take(*record)
                else:
                    self._file.write(record)

    def finish(self, committables: Sequence[Any] = ()) -> tuple[StateFile | bytes, Committables]:
        """Return the file, or the content if it is in memory; waits until it is written.

        Args:
            committables: those of the checkpoint. They are returned, too; if the checkpoint has a
                folder, their frames are in a file there.

        Raises:
            CheckpointError: if it cannot be written.
        """
        try:
            with self._stack:
                for copy in self._copies:
                    assert self._file is not None
                    self._file.append(copy)
                self._check_wanted()
                if self._place is not None:
                    committables = store_frames(committables, self._place, self._process)
                    self._check_wanted()
        finally:
            for copy in self._copies:
                copy.discard()
        step("state: the file is complete")
        state = self._state.to_bytes() if self._file is None else self._file.result()
        return state, list(committables)

    def _check_wanted(self) -> None:
        if self._abandoned is not None:
            raise self._abandoned

    def finish_later(self, then: Callable[[], None], committables: Sequence[object] = ()) -> None:
        """Run ``finish`` in another thread; ``result`` has its result.

        Args:
            then: called at the end, in that thread.
            committables: those of the checkpoint.
        """

        def finish() -> None:
            try:
                self._result = self.finish(committables)
            except BaseException as error:  # noqa: BLE001 - raised by `result`
                self._result = error
            then()

        self._thread = threading.Thread(target=finish, name="snapshot")
        self._thread.start()

    @property
    def finishing(self) -> bool:
        """True after ``finish_later`` was called."""
        return self._thread is not None

    @property
    def finished(self) -> bool:
        """True once ``result`` is available."""
        return self._result is not None

    def result(self) -> tuple[StateFile | bytes, Committables]:
        """Return the result of ``finish`` in the other thread, or raise its exception."""
        assert self._result is not None
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result

    def abandon(self, error: BaseException) -> None:
        """Leave nothing of the file."""
        self._abandoned = error
        for copy in self._copies:
            copy.end()
        if not self.finishing:
            with contextlib.suppress(BaseException):
                self.finish()


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Spare the garbage collector: much is made at once, and all of it is needed."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
