"""The machine's commands: ``python -m tests.random_tables COMMAND``."""

from __future__ import annotations

import argparse
import sys

from tests.random_programs.here import WAYS
from tests.random_tables import metamorphic, recordings
from tests.random_tables.comparing import Comparison, compare
from tests.random_tables.differences import difference
from tests.random_tables.generator import generate
from tests.random_tables.here import outcome
from tests.random_tables.program import Program
from tests.random_tables.rendering import script
from tests.random_tables.shrinking import shrink


def main() -> None:
    """Run a command."""
    chosen = _parser().parse_args()
    if chosen.command == "record":
        recordings.record(chosen.pyflink, chosen.first, chosen.count, chosen.seconds)
    elif chosen.command == "compare":
        _compare(chosen)
    elif chosen.command == "check":
        _check(chosen)
    elif chosen.command == "shrink":
        _shrink(chosen.pyflink, chosen.seeds, chosen.way)
    else:
        _show(chosen.seed, chosen.way)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.random_tables")
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="run new programs on real PyFlink")
    recorder.add_argument("--pyflink", required=True, help="an interpreter that has PyFlink")
    recorder.add_argument("--first", type=int, required=True, help="the first seed")
    recorder.add_argument("--count", type=int, default=100, help="how many seeds")
    recorder.add_argument("--seconds", type=float, default=3600.0, help="when to stop")
    comparer = commands.add_parser("compare", help="run recorded programs here")
    comparer.add_argument("--way", choices=WAYS, action="append", required=True, help="how")
    comparer.add_argument("--every", type=int, default=1, help="run each nth program only")
    checker = commands.add_parser("check", help="compare new programs with what gives the same")
    checker.add_argument("--first", type=int, required=True, help="the first seed")
    checker.add_argument("--count", type=int, default=100, help="how many seeds")
    checker.add_argument(
        "--by", choices=metamorphic.CHECKS, action="append", help="by what; all in turn"
    )
    checker.add_argument("--shrink", action="store_true", help="shrink those that differ")
    shrinker = commands.add_parser("shrink", help="find the smallest program that differs")
    shrinker.add_argument("--pyflink", required=True, help="an interpreter that has PyFlink")
    shrinker.add_argument("--way", choices=WAYS, default="whole")
    shrinker.add_argument("seeds", type=int, nargs="+")
    shower = commands.add_parser("show", help="print a program and what it gives")
    shower.add_argument("seed", type=int)
    shower.add_argument("--way", choices=WAYS, default="whole")
    return parser


def _compare(chosen: argparse.Namespace) -> None:
    comparisons = {}
    for way in chosen.way:
        sample = (r for r in recordings.everything() if r.program.seed % chosen.every == 0)
        comparisons[way] = compare(sample, way)
        _report(way, comparisons[way])
    if any(found.new or found.gone for found in comparisons.values()):
        sys.exit(1)


def _report(way: str, found: Comparison) -> None:
    print(f"{way}: {found.programs} programs, {len(found.new)} new differences")
    for name, count in sorted(found.known.items()):
        print(f"  known: {name}: {count}")
    for seed, differs in found.new.items():
        print(f"  new: {seed}: {differs[:400]}")
    if found.gone:
        print(f"  in the ledger, but not seen: {found.gone}")


def _check(chosen: argparse.Namespace) -> None:
    differing = False
    for name in chosen.by or metamorphic.CHECKS:
        seeds = range(chosen.first, chosen.first + chosen.count)
        found = metamorphic.check(name, map(generate, seeds))
        print(f"{name}: {found.programs} programs, {len(found.differing)} differ", flush=True)
        for seed, differs in found.differing.items():
            differing = True
            print(f"  {seed}: {differs[:400]}", flush=True)
            if chosen.shrink:
                small = metamorphic.smallest(name, metamorphic.prepared(name, generate(seed)))
                print(script(small))
                print(f"# here:    {outcome(small).results}")
                print(f"# {name}: {metamorphic.other(name, small)}", flush=True)
    sys.exit(differing)


def _shrink(python: str, seeds: list[int], way: str) -> None:
    with recordings.oracle(python) as oracle:
        for seed in seeds:
            found = _recorded(seed)
            small = shrink(
                found.program if found else generate(seed),
                oracle.outcomes,
                lambda programs: [outcome(program, WAYS[way]) for program in programs],
            )
            [expected] = oracle.outcomes([small])
            print(f"# seed {seed}\n{script(small)}")
            print(f"# here:    {outcome(small, WAYS[way])}")
            print(f"# PyFlink: {expected}\n", flush=True)


def _recorded(seed: int) -> recordings.Recording | None:
    return next((r for r in recordings.everything() if r.program.seed == seed), None)


def _show(seed: int, way: str) -> None:
    recording = _recorded(seed)
    program: Program = recording.program if recording else generate(seed)
    print(script(program))
    found = outcome(program, WAYS[way])
    print(f"# here:    {found.failure or found.results}")
    if recording:
        expected = recording.outcome
        print(f"# PyFlink: {expected.failure or expected.results}")
        print(f"# {difference(expected, found) or 'no difference'}")


if __name__ == "__main__":
    main()
