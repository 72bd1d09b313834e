"""Compares what programs give here with what real PyFlink gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.random_programs.here import WAYS, outcome
from tests.random_programs.ledger import known
from tests.random_programs.outcome import Reading, difference
from tests.random_programs.recordings import Recording

READING = Reading(any_subtask=True)


@dataclass
class Comparison:
    """The result of comparing programs.

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


def differences(
    recordings: Iterable[Recording], way: str
) -> Iterator[tuple[Recording, str | None]]:
    """Yield each recording, and how the program differs if it runs in a way."""
    for recording in recordings:
        found = outcome(recording.program, WAYS[way])
        yield recording, difference(recording.program.outputs, recording.outcome, found, READING)


def compare(recordings: Iterable[Recording], way: str) -> Comparison:
    """Compare programs that run in a way with what real PyFlink gave for them."""
    reasons = known(way)
    made = Comparison(0, {}, {}, [])
    for recording, differs in differences(recordings, way):
        made.programs += 1
        seed = recording.program.seed
        entry = reasons.get(seed)
        if differs is None and entry is not None:
            made.gone += [] if entry.sometimes else [seed]
        elif differs is not None and entry is not None:
            made.known[entry.name] = made.known.get(entry.name, 0) + 1
        elif differs is not None:
            made.new[seed] = differs
    return made
