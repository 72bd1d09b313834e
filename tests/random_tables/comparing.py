"""Compares what programs give here with what real PyFlink gave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.random_programs.here import WAYS
from tests.random_programs.ledger import Entry, entries, known
from tests.random_tables.differences import difference
from tests.random_tables.here import outcome
from tests.random_tables.program import FINAL
from tests.random_tables.recordings import Recording

LEDGER = Path(__file__).with_name("ledger.toml")


@dataclass
class Comparison:
    """The result of a comparison of programs.

    Args:
        programs: how many.
        known: the known differences that were seen: how often, by name.
        new: those of no known reason, by seed.
        gone: the seeds of known differences that were not seen.
    """

    programs: int
    known: dict[str, int]
    new: dict[int, str]
    gone: list[int]


def listed() -> list[Entry]:
    """Return all known differences of tables."""
    return entries(LEDGER)


def compare(recordings: Iterable[Recording], way: str) -> Comparison:
    """Compare programs that run in a way with what real PyFlink gave for them."""
    reasons = known(way, LEDGER)
    made = Comparison(0, {}, {}, [])
    for recording in recordings:
        made.programs += 1
        seed = recording.program.seed
        entry = reasons.get(seed)
        differs = _differs(recording, way)
        if differs is None and entry is not None:
            made.gone += [] if entry.sometimes else [seed]
        elif differs is not None and entry is not None:
            made.known[entry.name] = made.known.get(entry.name, 0) + 1
        elif differs is not None:
            made.new[seed] = differs
    return made


def _differs(recording: Recording, way: str) -> str | None:
    found = outcome(recording.program, WAYS[way])
    return difference(recording.outcome, found, any_order=recording.program.order == FINAL)
