"""Records what real PyFlink gives for the programs of a range of seeds."""

from __future__ import annotations

import time

from tests.random_programs.asking import Oracle
from tests.random_programs.generator import generate
from tests.random_programs.outcome import ENGINE, HANGS, Failure, Outcome, Reading, difference
from tests.random_programs.program import TOTAL, Program
from tests.random_programs.recordings import FOLDER, Recording, write

_AT_A_TIME = 20
_READING = Reading(any_subtask=True)
_OF_THE_RECORDER = (
    Failure(HANGS),
    Failure(ENGINE, "java.lang.IllegalStateException: Process died with exit code 0"),
)
"""Failures that are no property of a program: long waits, or a failed start of its worker."""


def record(python: str, first: int, count: int, seconds: float) -> None:
    """Record programs. One whose order is not fixed is run twice, and left out if that shows.

    Args:
        python: an interpreter that has PyFlink.
        first: the first seed.
        count: how many.
        seconds: after which no further programs are run; the file has those up to then.
    """
    kept: list[Recording] = []
    started = time.monotonic()
    seeds = range(first, first + count)
    with Oracle(python) as oracle:
        for begin in seeds[::_AT_A_TIME]:
            if time.monotonic() - started > seconds:
                break
            kept += _recorded(oracle, [generate(s) for s in seeds[begin - first :][:_AT_A_TIME]])
            write(FOLDER / f"{first:06}.jsonl.xz", kept)
            passed = time.monotonic() - started
            print(f"{len(kept)} recorded before {begin + _AT_A_TIME} in {passed:.0f} s", flush=True)


def _recorded(oracle: Oracle, programs: list[Program]) -> list[Recording]:
    """Return the programs that always give the same, each with what that is."""
    kept = []
    outcomes = oracle.outcomes(programs)
    unsure = [p for p, o in zip(programs, outcomes) if _is_unsure(p, o)]
    again = dict(zip((p.seed for p in unsure), oracle.outcomes(unsure)))
    for program, one in zip(programs, outcomes):
        other = again.get(program.seed, one)
        changed = difference(program.outputs, one, other, _READING)
        if changed is None and other.failure in _OF_THE_RECORDER:
            changed = f"no outcome: {other.failure}"
        if changed is None:
            kept.append(Recording(program, one))
        else:
            print(f"seed {program.seed} is left out: {changed[:300]}", flush=True)
    return kept


def _is_unsure(program: Program, outcome: Outcome) -> bool:
    if outcome.failure == Failure(HANGS):
        return False  # to wait for it again costs more than another program
    not_fixed = program.parallelism > 1 or program.outputs[0].order != TOTAL
    by_clock = "paced" in {argument for step in program.steps for argument in step.args}
    return not_fixed or by_clock or outcome.failure in _OF_THE_RECORDER
