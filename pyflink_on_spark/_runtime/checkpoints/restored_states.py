"""Reads from a checkpoint what the subtasks of some slots begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    stages: Sequence[StagePlan],
    slots: Iterable[int],
    configuration: Mapping[str, str],
) -> dict[int, TaskStateSnapshot]:
    """Return the state of each subtask of some slots in a checkpoint, by its number.

    Args:
        restore: the number of the checkpoint, and its folder or content.
        stages: those of the job.
        slots: those of the host that asks.
        configuration: says how to reach the folder.
    """
    checkpoint_id, where = restore
    savepoint = False
    if isinstance(where, bytes):
        whole = SlotState.from_bytes(where)
    else:
        place = find_checkpoint(where, configuration)
        metadata = read_metadata(place)
        whole, savepoint = read_states(place, metadata), metadata.savepoint
    found: dict[int, TaskStateSnapshot] = {}
    for slot in slots:
        found |= shares(stages, slot, whole, checkpoint_id, savepoint=savepoint)
    return found
