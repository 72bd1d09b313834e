"""Records what real PyFlink gives for the programs of a range of seeds."""

from __future__ import annotations

import time
from pathlib import Path

from tests.random_programs.asking import Oracle
from tests.random_programs.generator import generate
from tests.random_programs.outcome import difference
from tests.random_programs.recordings import FOLDER, Recording, write

_AT_A_TIME = 40


def record(python: str, first: int, count: int) -> Path:
    """Record programs. One that gives something else when it is run again is left out.

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
            again = oracle.outcomes(programs[::-1])[::-1]
            for program, one, other in zip(programs, outcomes, again):
                changed = difference(program.outputs, one, other)
                if changed is None:
                    kept.append(Recording(program, one))
                else:
                    print(f"seed {program.seed} is left out: {changed}", flush=True)
    path = FOLDER / f"{first:06}.jsonl.xz"
    write(path, kept)
    seconds = time.monotonic() - started
    print(f"{len(kept)} of {count} programs recorded in {seconds:.0f} s: {path.name}")
    return path
