"""Reads from a checkpoint what the subtasks of some slots begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, shares
from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.task.plan import StagePlan


class Restore(NamedTuple):
    """What an attempt begins with.

    Args:
        checkpoint_id: the checkpoint's number.
        where: its folder, or its content.
        names: the stable names that operators and sources have in the job, by those in the
            checkpoint, where they differ; None for what the job leaves out.
    """

    checkpoint_id: int
    where: str | bytes
    names: Mapping[str, str | None] = {}


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
    where, savepoint = restore.where, False
    if isinstance(where, bytes):
        whole = SlotState.from_bytes(where)
    else:
        place = find_checkpoint(where, configuration)
        metadata = read_metadata(place)
        whole, savepoint = read_states(place, metadata), metadata.savepoint
    whole = whole.renamed(restore.names)
    found: dict[int, TaskStateSnapshot] = {}
    for slot in slots:
        found |= shares(stages, slot, whole, restore.checkpoint_id, savepoint=savepoint)
    return found
