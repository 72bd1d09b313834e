"""The settings of a job for its keyed state."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._options.own import REFUSE


@dataclass(frozen=True)
class DiskSettings:
    """The memory and the folders of keyed state on disk.

    Args:
        memory: how many bytes the recent entries of one operator may take, about.
        folders: where databases are, in turn; empty for the system's folder for temporary files.
        page_cache: how many bytes of that the database has as its own cache; None for a quarter.
    """

    memory: int = 64 * 1024 * 1024
    folders: tuple[str, ...] = ()
    page_cache: int | None = None


@dataclass(frozen=True)
class StateSettings:
    """The settings of keyed state.

    Args:
        disk: memory and disk of a state backend that may be larger than memory; None for memory.
        track_changes: whether checkpoints may write only what has changed.
        changed: what happens to restored state of another kind or type, as the option says.
    """

    disk: DiskSettings | None = None
    track_changes: bool = False
    changed: str = REFUSE
