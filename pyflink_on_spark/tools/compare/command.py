"""``python -m pyflink_on_spark compare``."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

import pyflink_on_spark
from pyflink_on_spark.tools.commands import parser_of, split_at_dashes
from pyflink_on_spark.tools.compare.difference import Reading
from pyflink_on_spark.tools.compare.report import Comparison
from pyflink_on_spark.tools.compare.run import run

_TIMEOUT = 300.0


def main(arguments: list[str]) -> int:
    """Run a script on both engines and compare.

    Returns:
        0 if both gave the same, 1 if not, 2 for a wrong command line.
    """
    own, given = split_at_dashes(arguments)
    options = _parser().parse_args(own)
    script = Path(options.script)
    python = shutil.which(options.pyflink)
    if not script.is_file() or python is None:
        missing = f"script {script}" if python else f"program {options.pyflink}"
        print(f"compare: there is no {missing}", file=sys.stderr)
        return 2
    reading = Reading(
        ordered=options.ordered,
        any_subtask=options.any_subtask,
        ignored=tuple(options.ignore),
        logging=options.logging,
    )
    # Not resolved: an interpreter's link is what tells Python of its virtual environment.
    python = os.path.abspath(python)
    command = [str(script.resolve()), *given]
    theirs = run("PyFlink", [python, *command], _environment(python), options.timeout)
    ours = run(
        "here",
        [sys.executable, "-m", pyflink_on_spark.__name__, *command],
        _environment(sys.executable, str(Path(pyflink_on_spark.__file__).parent.parent)),
        options.timeout,
    )
    comparison = Comparison(theirs, ours, reading)
    print(comparison.text(options.all))
    return 0 if comparison.equal else 1


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "compare",
        "Run a script on real PyFlink and here, each in a working folder of its own, "
        "and show where what they print differs.",
        epilog="Exit status: 0 if both gave the same, 1 if not.",
    )
    parser.add_argument("script", metavar="SCRIPT", help="its own arguments follow after --")
    parser.add_argument(
        "--pyflink", required=True, metavar="PYTHON", help="an interpreter that has apache-flink"
    )
    parser.add_argument("--ordered", action="store_true", help="let the order of lines count")
    parser.add_argument(
        "--any-subtask", action="store_true", help="leave out which subtask printed a line (3>)"
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        type=re.compile,
        metavar="REGEX",
        help="leave out lines in which this is found; can be given several times",
    )
    parser.add_argument(
        "--logging", action="store_true", help="do not leave out what the engines themselves log"
    )
    parser.add_argument("--all", action="store_true", help="show all lines that differ")
    parser.add_argument(
        "--timeout",
        type=float,
        default=_TIMEOUT,
        metavar="SECONDS",
        help=f"kill a run that takes longer; {_TIMEOUT:.0f} if not given",
    )
    return parser


def _environment(python: str, *python_path: str) -> dict[str, str]:
    """Return an environment in which ``python`` is the given one, for PyFlink's workers."""
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([os.path.dirname(python), environment.get("PATH", "")])
    before = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([*python_path, *([before] if before else [])])
    return environment
