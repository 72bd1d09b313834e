"""``python -m pyflink_on_spark compare``."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyflink_on_spark
from pyflink_on_spark.tools.commands import parser_of, split_at_dashes
from pyflink_on_spark.tools.compare.difference import Difference, Reading, difference
from pyflink_on_spark.tools.compare.run import Run, run

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


_MOST_LINES = 20
_LAST_ERRORS = 15


class Comparison:
    """The comparison of two runs.

    Args:
        first: the run on real PyFlink.
        second: the run here.
        reading: how their outputs are to be compared.
    """

    def __init__(self, first: Run, second: Run, reading: Reading) -> None:
        self._runs = (first, second)
        self._reading = reading
        self._lines = [reading.lines(run.output) for run in self._runs]
        self._difference = self._compared(reading)

    @property
    def equal(self) -> bool:
        """True if both runs printed the same and ended in the same way."""
        first, second = self._runs
        return not self._difference and first.status == second.status

    def text(self, everything: bool) -> str:
        """Return the report.

        Args:
            everything: whether to show all lines that differ, not only the first.
        """
        lines = [*self._table(), ""]
        if self._difference:
            lines += self._differing(self._difference, everything)
        else:
            order = "in the same order" if self._reading.ordered else "in whatever order"
            lines.append(f"The same lines, {order}.")
        if not self.equal and not self._difference:
            lines.append("But they ended in different ways.")
        for finished in self._runs:
            lines += _errors(finished)
        return "\n".join(lines)

    def _compared(self, reading: Reading) -> Difference:
        first, second = (reading.lines(run.output) for run in self._runs)
        return difference(first, second, reading.ordered)

    def _table(self) -> Iterator[str]:
        yield _line("", [run.engine for run in self._runs])
        yield _line("exit status", [_status(run) for run in self._runs])
        yield _line("seconds", [f"{run.seconds:.1f}" for run in self._runs])
        yield _line("lines", [str(len(lines)) for lines in self._lines])

    def _differing(self, found: Difference, everything: bool) -> Iterator[str]:
        sides = ((found.only_first, "-"), (found.only_second, "+"))
        for finished, (lines, mark) in zip(self._runs, sides, strict=True):
            if lines:
                count = f"{len(lines)} {'line' if len(lines) == 1 else 'lines'}"
                yield f"only {_where(finished)}: {count}"
                shown = lines if everything else lines[:_MOST_LINES]
                yield from (f"  {mark} {line}" for line in shown)
                if len(shown) < len(lines):
                    yield f"  ... and {len(lines) - len(shown)} more; --all shows them"
        relaxed = replace(self._reading, any_subtask=True)
        if not self._reading.any_subtask and not self._compared(relaxed):
            yield "Only the subtasks differ that printed the lines: --any-subtask leaves them out."


def _line(heading: str, cells: Sequence[str]) -> str:
    return (f"{heading:<12}" + "".join(f"{cell:<12}" for cell in cells)).rstrip()


def _status(run: Run) -> str:
    return "killed" if run.status is None else str(run.status)


def _errors(run: Run) -> Iterator[str]:
    if run.status is None:
        yield f"\n{run.engine}: killed after {run.seconds:.0f} s; --timeout gives it more time"
    elif run.status != 0:
        yield f"\n{run.engine}: the end of what it said on standard error"
        yield from (f"  {line}" for line in run.errors.splitlines()[-_LAST_ERRORS:])


def _where(run: Run) -> str:
    return run.engine if run.engine == "here" else f"on {run.engine}"
