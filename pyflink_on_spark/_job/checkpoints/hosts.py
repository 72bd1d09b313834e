"""The hosts that run the subtasks of an attempt, as the driver sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from pyflink_on_spark._runtime.checkpoints.checkpoint_files import StateFile
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE


@dataclass(frozen=True)
class HostSnapshot:
    """The part of one host in a checkpoint.

    Args:
        state: the file with the state of its subtasks, or its content if it is in memory.
        committables: what its sinks have prepared since the last complete checkpoint: pairs of a
            sink's number and a thing. If the checkpoint has a folder, the frames of large
            committables are in a file there.
    """

    state: StateFile | bytes
    committables: list[Any]


class SlowCheckpoint(TimeoutError):
    """Hosts have not written a checkpoint in time; the text says what holds them up, if known."""


class Hosts(Protocol):
    """The processes that have the subtasks of an attempt; each has some slots."""

    def snapshot(
        self,
        checkpoint_id: int,
        where: str | None,
        contents: str = WHOLE,
        *,
        halt: bool = False,
        timeout: float | None = None,
    ) -> dict[int, HostSnapshot]:
        """Take a checkpoint; return the part of each host, by its number.

        Args:
            checkpoint_id: its number.
            where: the URI of its folder; None for memory.
            contents: WHOLE, or BASE or DELTA of a changelog.
            halt: whether nothing is read after it, unless it is aborted.
            timeout: how long to wait (s).

        Raises:
            CheckpointError: if a host could not write its state.
            SubtaskFailure: if a user's function has failed.
            TimeoutError: if it takes too long.
        """
        ...

    def committables(self) -> list[Any]:
        """Return, once, what sinks have prepared: pairs of a sink's number and a thing."""
        ...

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint is complete, and wait for them.

        Raises:
            SubtaskFailure: if a user's function fails in it.
        """
        ...

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint was aborted, without waiting for them."""
        ...

    def end_sources(self) -> None:
        """Let all sources end, as if there were nothing more to read."""
        ...
