"""Records what real PyFlink gives for the programs of a range of seeds."""

from __future__ import annotations

import time
from pathlib import Path

from tests.random_programs.asking import Oracle
from tests.random_programs.generator import generate
from tests.random_programs.outcome import Reading, difference
from tests.random_programs.program import TOTAL
from tests.random_programs.recordings import FOLDER, Recording, write

_AT_A_TIME = 40
_READING = Reading(any_subtask=True)


def record(python: str, first: int, count: int) -> Path:
    """Record programs. One whose order is not fixed is run twice, and left out if that shows.

    Args:
        python: an interpreter that has PyFlink.
        first: the first seed.
        count: how many.
    """
    kept: list[Recording] = []
    started = time.monotonic()
    with Oracle(python) as oracle:
        for begin in range(first, first + count, _AT_A_TIME):
            programs = [generate(s) for s in range(begin, min(begin + _AT_A_TIME, first + count))]
            outcomes = oracle.outcomes(programs)
            unsure = [p for p in programs if p.parallelism > 1 or p.outputs[0].order != TOTAL]
            again = dict(zip((p.seed for p in unsure), oracle.outcomes(unsure)))
            for program, one in zip(programs, outcomes):
                changed = difference(program.outputs, one, again.get(program.seed, one), _READING)
                if changed is None:
                    kept.append(Recording(program, one))
                else:
                    print(f"seed {program.seed} is left out: {changed}", flush=True)
    path = FOLDER / f"{first:06}.jsonl.xz"
    write(path, kept)
    seconds = time.monotonic() - started
    print(f"{len(kept)} of {count} programs recorded in {seconds:.0f} s: {path.name}")
    return path
