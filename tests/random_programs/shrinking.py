"""Looks for the smallest program on which two engines still differ in the same way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.random_programs.outcome import Outcome, Reading, difference
from tests.random_programs.program import Program
from tests.random_programs.simpler import smaller

Run = Callable[[Sequence[Program]], list[Outcome]]
_AT_A_TIME = 8


@dataclass(frozen=True)
class Kind:
    """The kind of a difference, which a smaller program must share.

    Args:
        expected: who failed on real PyFlink, if anyone.
        found: who failed here, if anyone.
        error: the type of the error here.
        only_order: whether the elements are the same.
    """

    expected: str | None
    found: str | None
    error: str
    only_order: bool


def kind(program: Program, expected: Outcome, found: Outcome, reading: Reading) -> Kind | None:
    """Return how outcomes differ; None if they do not."""
    if difference(program.outputs, expected, found, reading) is None:
        return None
    any_order = Reading(reading.any_subtask, any_order=True)
    return Kind(
        expected.failure and expected.failure.by,
        found.failure and found.failure.by,
        found.failure.error.split(":")[0] if found.failure else "",
        difference(program.outputs, expected, found, any_order) is None,
    )


def shrink(program: Program, oracle: Run, here: Run, reading: Reading) -> Program:
    """Return the smallest program found that differs in the way that the given one does.

    Args:
        program: one that differs.
        oracle: runs programs on real PyFlink.
        here: runs them on this project.
        reading: what does not count.
    """
    [expected], [found] = oracle([program]), here([program])
    wanted = kind(program, expected, found, reading)
    if wanted is None:
        raise ValueError(f"the program of seed {program.seed} does not differ")
    while True:
        for candidates in _batches(_likely(program, here, wanted)):
            made = zip(candidates, oracle(candidates), here(candidates))
            kept = [c for c, one, other in made if kind(c, one, other, reading) == wanted]
            if kept:
                program = kept[0]
                break
        else:
            return program


def _likely(program: Program, here: Run, wanted: Kind) -> Iterator[Program]:
    """Yield smaller programs that fail here as the given one does, or do not fail."""
    for candidate in smaller(program):
        [found] = here([candidate])
        error = found.failure.error.split(":")[0] if found.failure else ""
        if (found.failure and found.failure.by, error) == (wanted.found, wanted.error):
            yield candidate


def _batches(candidates: Iterator[Program]) -> Iterator[list[Program]]:
    return iter(lambda: list(itertools.islice(candidates, _AT_A_TIME)), [])
