"""Reads from a checkpoint what the subtasks of a host begin with."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, shares
from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.task.plan import StagePlan


def restored_states(
    restore: tuple[int, str | bytes],
    stages: tuple[StagePlan, ...],
    slots: list[int],
    configuration: Mapping[str, str],
) -> dict[int, TaskStateSnapshot]:
    """Return the state of each subtask of some slots in a checkpoint.

    Args:
        restore: the number of the checkpoint, and its folder or content.
        stages: those of the job.
        slots: those of the host.
        configuration: says how to reach the folder.
    """
    checkpoint_id, where = restore
    if isinstance(where, bytes):
        whole = SlotState.from_bytes(where)
    else:
        place = find_checkpoint(where, configuration)
        whole = read_states(place, read_metadata(place))
    return {
        number: state
        for slot in slots
        for number, state in shares(stages, slot, whole, checkpoint_id).items()
    }
