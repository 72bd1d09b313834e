"""How much memory and which disk keyed state on disk gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DiskSettings:
    """How much memory and which disk keyed state gets.

    Args:
        memory: how many bytes the recent entries of one operator may take, about.
        folders: where databases are, in turn; empty for the system's folder for temporary files.
        page_cache: how many bytes of that the database has as its own cache; None for a quarter.
    """

    memory: int = 64 * 1024 * 1024
    folders: tuple[str, ...] = ()
    page_cache: int | None = None
