"""A checkpoint in the driver's memory."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.hosts import HostSnapshot
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState


def content_of(answers: Mapping[int, HostSnapshot], max_state_size: int) -> bytes:
    """Return the content of a checkpoint.

    Args:
        answers: the part of each host.
        max_state_size: how many bytes the state of an operator may have in a subtask.

    Raises:
        CheckpointError: an operator has more.
    """
    whole = SlotState()
    for answer in answers.values():
        assert isinstance(answer.state, bytes)
        whole.merge(SlotState.from_bytes(answer.state))
    for name, parts in whole.operators.items():
        for part in parts.values():
            if part.size > max_state_size:
                raise CheckpointError(
                    f"the state of {name!r} has {part.size} bytes in subtask {part.index}; the "
                    f"memory-backed checkpoint storage takes {max_state_size}. Set "
                    "execution.checkpointing.dir, or use FileSystemCheckpointStorage."
                )
    return whole.to_bytes()
