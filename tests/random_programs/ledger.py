"""Differences that are known, each with its reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).with_name("ledger.toml")


@dataclass(frozen=True)
class Entry:
    """A known difference.

    Args:
        name: what it is called.
        reason: why it is there.
        programs: the seeds of the recorded programs that show it.
        ways: in which ways they do; all if empty.
        sometimes: whether they do by chance, so that it may be seen or not.
    """

    name: str
    reason: str
    programs: frozenset[int]
    ways: frozenset[str] = frozenset()
    sometimes: bool = False


def entries(path: Path = PATH) -> list[Entry]:
    """Return all known differences."""
    with path.open("rb") as file:
        found = tomllib.load(file)
    return [
        Entry(
            name,
            entry["reason"],
            frozenset(entry["programs"]),
            frozenset(entry.get("ways", ())),
            entry.get("sometimes", False),
        )
        for name, entry in found.items()
    ]


def known(way: str, path: Path = PATH) -> dict[int, Entry]:
    """Return the known difference of each seed that shows one."""
    return {
        seed: entry
        for entry in entries(path)
        for seed in entry.programs
        if not entry.ways or way in entry.ways
    }
