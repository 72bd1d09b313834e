"""Reads from a checkpoint what the subtasks of some slots begin with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, positions_of, shares
from pyflink_on_spark._runtime.checkpoints.task_state import TaskStateSnapshot
from pyflink_on_spark._runtime.contract.plan import StagePlan


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
    whole, savepoint = _whole(restore, configuration)
    found: dict[int, TaskStateSnapshot] = {}
    for slot in slots:
        found |= shares(stages, slot, whole, restore.checkpoint_id, savepoint=savepoint)
    return found


def restored_positions(
    restore: Restore | None,
    sources: Collection[str],
    configuration: Mapping[str, str],
) -> dict[str, list[Any]]:
    """Return all that a checkpoint has of some sources, by their stable names.

    Args:
        restore: the checkpoint; None for a fresh start.
        sources: the stable names.
        configuration: says how to reach the folder.
    """
    if restore is None or not sources:
        return {}
    whole, _ = _whole(restore, configuration)
    return {
        name: positions_of(contents.values())
        for name, contents in whole.sources.items()
        if name in sources
    }


def _whole(restore: Restore, configuration: Mapping[str, str]) -> tuple[SlotState, bool]:
    """Return the state of all slots under the job's names, and whether it is of a savepoint."""
    where, savepoint = restore.where, False
    if isinstance(where, bytes):
        whole = SlotState.from_bytes(where)
    else:
        place = find_checkpoint(where, configuration)
        metadata = read_metadata(place)
        whole, savepoint = read_states(place, metadata), metadata.savepoint
    return whole.renamed(restore.names), savepoint
