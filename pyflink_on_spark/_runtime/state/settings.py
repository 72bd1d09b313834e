"""What a job says of how keyed state is kept."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._options.own import REFUSE
from pyflink_on_spark._runtime.state.disk.settings import DiskSettings


@dataclass(frozen=True)
class StateSettings:
    """How keyed state is kept.

    Args:
        disk: memory and disk of a state backend that may be larger than memory; None for memory.
        track_changes: whether checkpoints may write only what has changed.
        changed: what happens to restored state of another kind or type, as the option says.
    """

    disk: DiskSettings | None = None
    track_changes: bool = False
    changed: str = REFUSE
