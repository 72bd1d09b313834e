"""Writes the state of the subtasks of one process for a checkpoint, one subtask after the other."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from pyflink_on_spark._runtime.checkpoints.changelog import BASE, DELTA, WHOLE, file_name
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    StateFile,
    StateFileWriter,
    state_file,
)
from pyflink_on_spark._runtime.checkpoints.folder import Folder, folder
from pyflink_on_spark._runtime.checkpoints.forked_records import (
    CopyUnusable,
    ForkedRecords,
    can_fork,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, records_of
from pyflink_on_spark._runtime.checkpoints.state_file import Record
from pyflink_on_spark._runtime.checkpoints.steps import step
from pyflink_on_spark._runtime.checkpoints.stored_frames import Committables, store_frames
from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend

_TAKEN: dict[str, Callable[[KeyedStateBackend], Any]] = {
    WHOLE: KeyedStateBackend.pieces,
    BASE: KeyedStateBackend.base_pieces,
    DELTA: KeyedStateBackend.change_pieces,
}
FEW_ENTRIES = 10_000
"""So many entries are written about as fast as a process is copied."""


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
        """What is taken of keyed state."""
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
            self._copies.append(ForkedRecords(records_of(index, state), state.files))
        except CopyUnusable:
            return False
        return True

    def _write(self, records: Iterable[Record]) -> None:
        with _without_collector():
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

    def finish_later(self, then: Callable[[], None], committables: Sequence[Any] = ()) -> None:
        """Do what ``finish`` does, in another thread; ``result`` has what it returns.

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
        """Whether ``finish_later`` was called."""
        return self._thread is not None

    @property
    def finished(self) -> bool:
        """Whether ``result`` has something."""
        return self._result is not None

    def result(self) -> tuple[StateFile | bytes, Committables]:
        """Return what ``finish`` returned in the other thread, or raise what it raised."""
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
def _without_collector() -> Iterator[None]:
    """Spare the garbage collector: much is made at once, and all of it is needed."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
