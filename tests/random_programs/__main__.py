"""The machine's commands: ``python -m tests.random_programs COMMAND``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from tests.random_programs import recordings
from tests.random_programs.asking import Oracle
from tests.random_programs.comparing import READING, Comparison, compare
from tests.random_programs.generator import generate
from tests.random_programs.here import WAYS, outcome
from tests.random_programs.outcome import Outcome, difference
from tests.random_programs.program import Program
from tests.random_programs.recording import record
from tests.random_programs.recordings import Recording
from tests.random_programs.rendering import script
from tests.random_programs.shrinking import shrink


def main() -> None:
    """Run a command."""
    chosen = _parser().parse_args()
    if chosen.command == "record":
        record(chosen.pyflink, chosen.first, chosen.count, chosen.seconds)
    elif chosen.command == "compare":
        _compare(chosen)
    elif chosen.command == "show":
        _show(chosen.seed, chosen.way)
    else:
        _shrink(chosen.pyflink, chosen.seeds, chosen.way)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs")
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="run new programs on real PyFlink")
    recorder.add_argument("--pyflink", required=True, help="an interpreter that has PyFlink")
    recorder.add_argument("--first", type=int, required=True, help="the first seed")
    recorder.add_argument("--count", type=int, default=100, help="how many seeds")
    recorder.add_argument("--seconds", type=float, default=3600.0, help="when to stop")
    comparer = commands.add_parser("compare", help="run recorded programs here")
    comparer.add_argument("--way", choices=WAYS, action="append", required=True, help="how")
    comparer.add_argument(
        "--every", type=int, default=1, help="run a sample only: each nth program"
    )
    shower = commands.add_parser("show", help="print a program and what it gives")
    shower.add_argument("seed", type=int)
    shower.add_argument("--way", choices=WAYS, default="whole")
    shrinker = commands.add_parser("shrink", help="find the smallest program that differs")
    shrinker.add_argument("--pyflink", required=True, help="an interpreter that has PyFlink")
    shrinker.add_argument("--way", choices=WAYS, default="whole")
    shrinker.add_argument("seeds", type=int, nargs="+")
    return parser


def _compare(chosen: argparse.Namespace) -> None:
    comparisons = {}
    for way in chosen.way:
        comparisons[way] = compare(_sample(chosen.every), way)
        _report(way, comparisons[way])
    if any(found.new or found.gone for found in comparisons.values()):
        sys.exit(1)


def _sample(every: int) -> Iterator[Recording]:
    return (r for r in recordings.everything() if r.program.seed % every == 0)


def _report(way: str, found: Comparison) -> None:
    print(f"{way}: {found.programs} programs, {len(found.new)} new differences")
    for name, count in sorted(found.known.items()):
        print(f"  known: {name}: {count}")
    for seed, differs in found.new.items():
        print(f"  new: {seed}: {differs[:400]}")
    if found.gone:
        print(f"  in the ledger, but not seen: {found.gone}")


def _show(seed: int, way: str) -> None:
    program = _program(seed)
    print(script(program))
    found = outcome(program, WAYS[way])
    for recording in recordings.everything():
        if recording.program.seed == seed:
            _show_outcomes(program, recording.outcome, found)
            return
    print(f"# here: {found}")


def _program(seed: int) -> Program:
    for recording in recordings.everything():
        if recording.program.seed == seed:
            return recording.program
    return generate(seed)


def _show_outcomes(program: Program, expected: Outcome, found: Outcome) -> None:
    print(f"# PyFlink: {expected.failure or expected.results}")
    print(f"# here:    {found.failure or found.results}")
    print(f"# {difference(program.outputs, expected, found, READING) or 'no difference'}")


def _shrink(python: str, seeds: list[int], way: str) -> None:
    with Oracle(python) as oracle:
        for seed in seeds:
            small = shrink(
                _program(seed),
                oracle.outcomes,
                lambda programs: [outcome(program, WAYS[way]) for program in programs],
                READING,
            )
            print(f"# seed {seed}\n{script(small)}")
            [expected] = oracle.outcomes([small])
            _show_outcomes(small, expected, outcome(small, WAYS[way]))
            print(flush=True)


if __name__ == "__main__":
    main()
