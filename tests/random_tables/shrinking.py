"""Looks for the smallest program that still differs in the same way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from tests.random_programs.outcome import Outcome
from tests.random_tables.differences import kind
from tests.random_tables.program import Program
from tests.random_tables.simpler import smaller

Run = Callable[[Sequence[Program]], list[Outcome]]
_AT_A_TIME = 8


def shrink(program: Program, expected: Run, here: Run) -> Program:
    """Return the smallest program found that differs in the way that the given one does.

    Args:
        program: one that differs.
        expected: runs programs on real PyFlink, or in whichever way has to give the same.
        here: runs them on this project.

    Raises:
        ValueError: the program does not differ.
    """
    wanted = _kinds([program], expected, here)[0]
    if wanted is None:
        raise ValueError(f"the program of seed {program.seed} does not differ")
    while True:
        for candidates in _batches(smaller(program)):
            kinds = _kinds(candidates, expected, here)
            kept = [c for c, found in zip(candidates, kinds) if found == wanted]
            if kept:
                program = kept[0]
                break
        else:
            return program


def _kinds(programs: Sequence[Program], expected: Run, here: Run) -> list[str | None]:
    pairs = zip(expected(programs), here(programs))
    return [kind(one, other) for one, other in pairs]


def _batches(candidates: Iterator[Program]) -> Iterator[list[Program]]:
    return iter(lambda: list(itertools.islice(candidates, _AT_A_TIME)), [])
