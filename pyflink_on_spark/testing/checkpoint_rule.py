"""The checkpoints of jobs in this process, and the restarts from them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckpointRule:
    """The points at which a test takes checkpoints.

    Args:
        each_turn: whether a job with checkpoints takes one whenever its sources have handed over
            something, and not by the clock.
        restart: whether the job continues in new instances after each checkpoint, with nothing but
            what is in it.
    """

    each_turn: bool = False
    restart: bool = False
