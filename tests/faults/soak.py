"""Kills a job again and again, and checks that nothing is lost and nothing is there twice.

    python -m tests.faults.soak --minutes 5 --kills 20

A generator writes files of numbered events; a job (`job.py`) counts them in state, in windows and
by timers, with checkpoints. Its driver is killed at random moments and started again from the
newest complete checkpoint. Hosts and the daemon that starts them are killed too, and there the job
has to help itself; and Spark's Java process, without which the driver has to end with an error. In
the end the committed files have to hold exactly what the events give. Checkpoints are signed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

from tests.faults.disturbed import DisturbedJob, Plan, arguments, run_command
from tests.faults.events import (
    EVENTS_A_FILE,
    check_counts,
    expected_rows,
    expected_sums,
    expected_windows,
    rows_after,
)

JOB = Path(__file__).with_name("job.py")


class Soak(DisturbedJob):
    """One run, from files to files.

    Args:
        plan: what to do.
        choose: decides when to kill what.
        tell: gets a line for each kill.
    """

    def __init__(
        self, plan: Plan, choose: random.Random, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        super().__init__(plan, choose, tell)
        self._input = plan.folder / "events"
        self._input.mkdir()

    def _generator(self) -> list[str]:
        options = ["--seconds", str(self._plan.seconds), "--rate", str(self._plan.rate)]
        return [sys.executable, "-m", "tests.faults.events", str(self._input), *options]

    def _job(self) -> list[str]:
        return [str(JOB), str(self._input), str(self._output)]

    def _count_events(self) -> int:
        return EVENTS_A_FILE * len(list(self._input.glob("[0-9]*")))

    def _count_seen(self) -> int:
        return min(len(self._lines("counts")), len(self._lines("flushed")))

    def _check(self, events: int) -> None:
        report, results = self._report, self._check_counts_and_windows(events)
        for what, sums in expected_sums(events).items():
            self._compare(what, self._lines(what), sums)
            results += len(sums)
        self._compare("flushed", self._lines("flushed"), [str(n) for n in range(events)])
        changes = 0
        for what, rows in expected_rows(events).items():
            lines = self._lines(what)
            self._compare(f"rows of {what}", rows_after(lines), rows)
            changes += len(lines)
        found = (
            f"{events} events in state and by timers, {results} results of windows and timers, "
            f"{changes} changes of queries"
        )
        report.records = f"{found}, {self._places()}"

    def _check_counts_and_windows(self, events: int) -> int:
        """Look at the results that all jobs have; return how many windows there were."""
        self._report.problems += check_counts(self._lines("counts"), events)
        expected = expected_windows(events)
        self._compare("windows", self._lines("windows"), expected)
        return len(expected)

    def _places(self) -> str:
        """Return where the lines are; note what should not be there."""
        files = len(list(self._output.glob("*/part-*")))
        if hidden := list(self._output.glob("*/.*")):
            left = f"{len(hidden)} hidden files are left, such as {hidden[0].name}"
            self._report.problems.append(left)
        return f"in {files} part files"

    def _lines(self, what: str) -> list[str]:
        files = sorted((self._output / what).glob("part-*"))
        return [line for path in files for line in path.read_text().splitlines()]


def main() -> int:
    """Run it as the command line says; the exit code is 1 if something is wrong."""
    return run_command(arguments(__doc__).parse_args(), Soak)


if __name__ == "__main__":
    sys.exit(main())
