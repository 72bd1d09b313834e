"""Outcomes of programs on real PyFlink: files that are added and never changed."""

from __future__ import annotations

import json
import lzma
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.random_programs.asking import Oracle
from tests.random_programs.outcome import HANGS, Failure, Outcome, from_data
from tests.random_tables.differences import difference
from tests.random_tables.generator import generate
from tests.random_tables.program import Program, from_json

FOLDER = Path(__file__).with_name("recorded")
_AT_A_TIME = 40
_PROGRAMS_OF_A_PROCESS = 400


@dataclass(frozen=True)
class Recording:
    """A program and its outcome on real PyFlink."""

    program: Program
    outcome: Outcome


def oracle(python: str) -> Oracle:
    """Return real PyFlink, run by an interpreter that has it."""
    return Oracle(python, "tests.random_tables.oracle", _PROGRAMS_OF_A_PROCESS)


def record(python: str, first: int, count: int, seconds: float) -> None:
    """Record programs. One that does not give the same twice is left out.

    Args:
        python: an interpreter that has PyFlink.
        first: the first seed.
        count: how many.
        seconds: after which no further programs are run; the file has those up to then.
    """
    kept: list[Recording] = []
    started = time.monotonic()
    with oracle(python) as asked:
        for begin in range(first, first + count, _AT_A_TIME):
            if time.monotonic() - started > seconds:
                break
            seeds = range(begin, min(begin + _AT_A_TIME, first + count))
            kept += _recorded(asked, [generate(seed) for seed in seeds])
            write(FOLDER / f"{first:06}.jsonl.xz", kept)
            passed = time.monotonic() - started
            print(f"{len(kept)} recorded before {seeds[-1] + 1} in {passed:.0f} s", flush=True)


def _recorded(asked: Oracle, programs: list[Program]) -> list[Recording]:
    outcomes = asked.outcomes(programs)
    unsure = [p for p, o in zip(programs, outcomes) if _is_unsure(p, o)]
    again = dict(zip((p.seed for p in unsure), asked.outcomes(unsure) if unsure else []))
    kept = []
    for program, one in zip(programs, outcomes):
        changed = difference(one, again.get(program.seed, one))
        if changed is None and one.failure is not None:
            changed = f"it fails: {one.failure.by} {one.failure.error}"
        if changed is None:
            kept.append(Recording(program, one))
        else:
            print(f"seed {program.seed} is left out: {changed[:300]}", flush=True)
    return kept


def _is_unsure(program: Program, outcome: Outcome) -> bool:
    """Return True for programs whose results may change: those of several inputs or subtasks."""
    several = any(len(relation.inputs) > 1 for relation in program.relations)
    hangs = outcome.failure == Failure(HANGS)
    return not hangs and (several or program.parallelism > 1 or bool(program.settings))


def write(path: Path, recordings: Iterable[Recording]) -> None:
    """Write a file of recordings."""
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with lzma.open(unfinished, "wt", encoding="utf-8", preset=9) as file:
        for recording in recordings:
            outcome = json.dumps(
                recording.outcome.to_data(), ensure_ascii=False, separators=(",", ":")
            )
            file.write(f"{recording.program.to_json()}\t{outcome}\n")
    unfinished.replace(path)


def everything() -> Iterator[Recording]:
    """Yield all recordings."""
    return map(read, lines())


def lines() -> Iterator[str]:
    """Yield all recordings as text: most of the time is that of reading it."""
    for path in sorted(FOLDER.glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            yield from file


def read(line: str) -> Recording:
    """Return the recording of a line."""
    program, outcome = line.split("\t")
    return Recording(from_json(program), from_data(json.loads(outcome)))
