"""A checkpoint, as the subtasks of a process take part in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


@dataclass
class SnapshotRequest:
    """A checkpoint that a group takes part in.

    Args:
        checkpoint_id: its number.
        write: writes the state of a subtask, given its index, before the subtask continues.
        taken: what is taken of keyed state; None for everything.
        halt: whether nothing is read after the checkpoint.
        remaining: how many subtasks are still to write their state.
        aborted: whether nothing is to be written any more.
        error: why it cannot be written, if that is so.
    """

    checkpoint_id: int
    write: Callable[[int, TaskStateSnapshot], None]
    taken: Callable[[KeyedStateBackend], Any] | None = None
    halt: bool = False
    remaining: int = field(default=0, init=False)
    aborted: bool = field(default=False, init=False)
    error: CheckpointError | None = field(default=None, init=False)

    @property
    def done(self) -> bool:
        """Whether all subtasks of the group are through."""
        return self.remaining == 0

    def fail(self, error: CheckpointError) -> None:
        """Write nothing more, since that cannot be done; the subtasks continue."""
        self.aborted, self.error = True, self.error or error
