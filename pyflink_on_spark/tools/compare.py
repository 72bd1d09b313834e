"""``compare``: one script on both engines, and the differences of their output."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyflink_on_spark
from pyflink_on_spark.tools.commands import parser_of, split_at_dashes

_TIMEOUT = 300.0
_MOST_LINES = 20
_LAST_ERRORS = 15
_SUBTASK = re.compile(r"^((?:[^>\n]*:)?)\d+> ")


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


@dataclass(frozen=True)
class Run:
    """The output and the end of a script's process.

    Args:
        engine: which engine it ran on.
        status: its exit status; None if it was killed because it took too long.
        seconds: from its start to its end.
        output: its standard output.
        errors: its standard error.
    """

    engine: str
    status: int | None
    seconds: float
    output: str
    errors: str


def run(
    engine: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    timeout: float,
    folder: str | None = None,
) -> Run:
    """Run a command in a working folder of its own.

    Args:
        engine: the name for the report.
        command: the program and its arguments.
        environment: the process's environment.
        timeout: after how many seconds it, and what it started, is killed.
        folder: the working folder; a temporary one, removed afterwards, if not given.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="compare-", ignore_cleanup_errors=True) as made:
            return run(engine, command, environment, timeout, made)
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    status: int | None
    try:
        output, errors = process.communicate(timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        status = None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return Run(engine, status, time.monotonic() - started, output, errors)


_LOGGED_BY_ENGINES = (
    # Beam's and PyFlink's, in scripts that log to standard output
    "Using Any for unsupported type: ",
    "No module named google.cloud",
    "PYFLINK_CYTHON_ENABLED: ",
    # py4j's
    "Callback Server Starting",
    "Callback Server Shutting Down",
    "Callback Connection ready to receive messages",
    "Socket listening on ",
    "Python Server ready to receive messages",
    "Received command ",
    "Closing down clientserver connection",
    "Closing down callback connection",
)


@dataclass(frozen=True)
class Reading:
    """The rules for the comparison of outputs.

    Args:
        ordered: whether the order of lines counts.
        any_subtask: whether it does not count which subtask printed a line.
        ignored: lines in which one of these patterns is found do not count.
        logging: whether lines count that an engine itself logs.
    """

    ordered: bool = False
    any_subtask: bool = False
    ignored: tuple[re.Pattern[str], ...] = ()
    logging: bool = False

    def lines(self, output: str) -> list[str]:
        """Return the lines that count, as they are compared."""
        return [
            _SUBTASK.sub(r"\1", line) if self.any_subtask else line
            for line in output.splitlines()
            if self._counts(line)
        ]

    def _counts(self, line: str) -> bool:
        if not self.logging and line.startswith(_LOGGED_BY_ENGINES):
            return False
        return not any(pattern.search(line) for pattern in self.ignored)


@dataclass(frozen=True)
class Difference:
    """The lines that only one of two outputs has."""

    only_first: list[str]
    only_second: list[str]

    def __bool__(self) -> bool:
        return bool(self.only_first or self.only_second)


def difference(first: Sequence[str], second: Sequence[str], ordered: bool) -> Difference:
    """Return where two outputs differ.

    Args:
        first: the lines of one.
        second: the lines of the other.
        ordered: whether their order counts.
    """
    if not ordered:
        one, other = Counter(first), Counter(second)
        return Difference(list((one - other).elements()), list((other - one).elements()))
    only: tuple[list[str], list[str]] = [], []
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, begin, end, other_begin, other_end in matcher.get_opcodes():
        if kind != "equal":
            only[0].extend(first[begin:end])
            only[1].extend(second[other_begin:other_end])
    return Difference(*only)
