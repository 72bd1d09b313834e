"""The machine's commands: ``python -m tests.random_programs COMMAND``."""

from __future__ import annotations

import argparse

from tests.random_programs.generator import generate
from tests.random_programs.recording import record
from tests.random_programs.rendering import script


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs")
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record", help="run programs on real PyFlink")
    recorder.add_argument("--pyflink", required=True, help="an interpreter that has PyFlink")
    recorder.add_argument("--first", type=int, required=True, help="the first seed")
    recorder.add_argument("--count", type=int, default=200, help="how many seeds")
    shower = commands.add_parser("show", help="print a program as a script")
    shower.add_argument("seed", type=int)
    chosen = parser.parse_args()
    if chosen.command == "record":
        record(chosen.pyflink, chosen.first, chosen.count)
    else:
        print(script(generate(chosen.seed)))


if __name__ == "__main__":
    main()
