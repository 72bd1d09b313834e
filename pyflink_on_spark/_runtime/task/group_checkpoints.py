"""The checkpoints that the subtasks of a group take part in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.slot_state import TaskStateSnapshot
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.subtask import Subtask


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
    taken: Callable[[KeyedStateBackend], object] | None = None
    halt: bool = False
    remaining: int = field(default=0, init=False)
    aborted: bool = field(default=False, init=False)
    error: CheckpointError | None = field(default=None, init=False)

    @property
    def done(self) -> bool:
        """True once all subtasks of the group have taken their part of the checkpoint."""
        return self.remaining == 0

    def fail(self, error: CheckpointError) -> None:
        """Write nothing more, since that cannot be done; the subtasks continue."""
        self.aborted, self.error = True, self.error or error


class GroupCheckpoints:
    """Lets barriers pass the subtasks of a group, and takes a snapshot at each."""

    def __init__(self) -> None:
        self._requests: dict[int, SnapshotRequest] = {}
        self.halted = False
        """True once no source is read any more, since the job ends with a savepoint."""
        self.prepared: list[Any] = []
        """The committables of all checkpoints since the last complete one, for the driver."""

    @property
    def pending(self) -> bool:
        """True while a subtask has yet to take its part of a checkpoint."""
        return bool(self._requests)

    def begin(self, request: SnapshotRequest, subtasks: int) -> None:
        """Take part in a checkpoint, with so many subtasks."""
        request.remaining = subtasks
        self._requests[request.checkpoint_id] = request

    def abort(self, checkpoint_id: int) -> None:
        """Write nothing more of a checkpoint; barriers that are under way pass."""
        request = self._requests.get(checkpoint_id)
        if request is not None:
            request.aborted = True
        self.halted = False

    def take_prepared(self) -> list[object]:
        """Return, once, the committables for the driver."""
        prepared, self.prepared = self.prepared, []
        return prepared

    def pass_barriers(self, subtask: Subtask) -> bool:
        """Let the barriers pass that a subtask has aligned; return whether one did."""
        passed = False
        while (checkpoint_id := subtask.alignment.aligned) is not None and not subtask.busy:
            request = self._requests.get(checkpoint_id)
            if request is None:
                break  # the driver's word of this checkpoint is still under way
            subtask.run(subtask.prepare_barrier)
            if not request.aborted:
                self._save(subtask, request)
            subtask.pass_barrier(checkpoint_id)
            request.remaining -= 1
            if request.done:
                del self._requests[checkpoint_id]
            passed = True
        return passed

    def _save(self, subtask: Subtask, request: SnapshotRequest) -> None:
        state = subtask.run(partial(subtask.snapshot, request.checkpoint_id, request.taken))
        try:
            request.write(subtask.identity.index, state)
        except CheckpointError as error:
            request.fail(error)
        else:
            self.halted = self.halted or request.halt
        self.prepared += subtask.run(subtask.committables)
