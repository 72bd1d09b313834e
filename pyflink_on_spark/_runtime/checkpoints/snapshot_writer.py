"""Writes the state of the subtasks of one process for a checkpoint, one subtask after the other."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from pyflink_on_spark._runtime.checkpoints.changelog import BASE, DELTA, WHOLE, file_name
from pyflink_on_spark._runtime.checkpoints.checkpoint import StateFile, state_file
from pyflink_on_spark._runtime.checkpoints.folder import folder
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, records_of
from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.steps import step

_TAKEN: dict[str, Callable[[KeyedStateBackend], Any]] = {
    WHOLE: KeyedStateBackend.pieces,
    BASE: KeyedStateBackend.base_pieces,
    DELTA: KeyedStateBackend.change_pieces,
}


class SnapshotWriter:
    """Takes the state of subtasks, into a file or into memory.

    Args:
        checkpoint_id: the checkpoint's number.
        where: the URI of the checkpoint's folder; None for memory.
        contents: WHOLE, BASE or DELTA.
        process: the number of the process, which names the file.
        configuration: the job's; says how file systems are reached.
    """

    def __init__(
        self,
        checkpoint_id: int,
        where: str | None,
        contents: str,
        process: int,
        configuration: Mapping[str, str],
    ) -> None:
        self.taken = _TAKEN[contents]
        """What is taken of keyed state."""
        self._state = SlotState()
        self._stack = ExitStack()
        self._file: Any = None
        if where is not None:
            name = file_name(contents, checkpoint_id, process)
            place = folder(where, configuration)
            self._file = self._stack.enter_context(
                state_file(place, name, shared=contents != WHOLE)
            )

    def write(self, index: int, state: TaskStateSnapshot) -> None:
        """Take the state of a subtask as it is now.

        Raises:
            CheckpointError: if it cannot be written.
        """
        step("state: a subtask gives it")
        with _without_collector():
            for record in records_of(index, state):
                if self._file is None:
                    self._state.take(*record)
                else:
                    self._file.write(record)

    def finish(self) -> StateFile | bytes:
        """Return the file, or the content if it is in memory.

        Raises:
            CheckpointError: if it cannot be written.
        """
        self._stack.close()
        step("state: the file is complete")
        return self._state.to_bytes() if self._file is None else self._file.result()

    def abandon(self, error: BaseException) -> None:
        """Leave nothing of the file."""
        with contextlib.suppress(BaseException):
            self._stack.__exit__(type(error), error, error.__traceback__)


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
