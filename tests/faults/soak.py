"""Kills a job again and again, and checks that nothing is lost and nothing is there twice.

    python -m tests.faults.soak --minutes 5 --kills 20

A generator writes files of numbered events; a job (`job.py`) counts them in state and in windows,
with checkpoints. Its driver is killed at random moments and started again from the newest complete
checkpoint; slot hosts and Spark's Python workers are killed too, and there the job has to help
itself. In the end the committed files have to hold exactly what the events give.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.faults.events import EVENTS_A_FILE, check_counts, expected_windows
from tests.faults.processes import PYTHON_WORKER, SLOT_HOST, Process, descendants, still_alive

ROOT = Path(__file__).resolve().parents[2]
JOB = Path(__file__).with_name("job.py")
ORPHANS_END_WITHIN = 20.0
"""In seconds; a JVM has files to remove before it ends."""


class SoakError(AssertionError):
    """What must not happen has happened."""


@dataclass
class Plan:
    """What is to be done.

    Args:
        folder: for everything.
        seconds: how long events are written.
        rate: how many a second.
        kills: how often the driver is killed.
        others: how many slot hosts and Python workers are killed.
        parallelism: of the job.
        pause: the mean time between two kills, in seconds.
        patience: how long the job has to catch up in the end, in seconds.
    """

    folder: Path
    seconds: float
    rate: float = 500
    kills: int = 20
    others: int = 10
    parallelism: int = 2
    pause: float = 5.0
    patience: float = 300.0


@dataclass
class Report:
    """What was done.

    Args:
        kills: how often what was killed.
        restored: how many of the driver's restarts went on from a checkpoint.
        events: how many events were written.
        windows: how many windows were checked.
        files: how many part files were committed.
        problems: what is wrong.
    """

    kills: Counter[str] = field(default_factory=Counter)
    restored: int = 0
    events: int = 0
    windows: int = 0
    files: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        killed = ", ".join(f"{count} x {what}" for what, count in sorted(self.kills.items()))
        wrong = "\n  ".join(self.problems) or "nothing is lost, nothing is there twice"
        return (
            f"killed: {sum(self.kills.values())} ({killed or 'nothing'}); "
            f"{self.restored} restarts from a checkpoint\n"
            f"records: {self.events} events, {self.windows} windows, in {self.files} part files\n"
            f"result: {wrong}"
        )


class Soak:
    """One run.

    Args:
        plan: what to do.
        choose: decides when to kill what.
        tell: gets a line for each kill.
    """

    def __init__(
        self, plan: Plan, choose: random.Random, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        self._plan, self._choose, self._tell = plan, choose, tell
        self._begun = time.monotonic()
        self._report = Report()
        folder = plan.folder
        self._input, self._output = folder / "events", folder / "output"
        self._checkpoints, self._log = folder / "checkpoints", folder / "job.log"
        for inside in (self._input, self._output, self._checkpoints):
            inside.mkdir(parents=True)

    def run(self) -> Report:
        """Write events, disturb the job, let it catch up, and look at what it wrote."""
        generator = self._generate()
        self._driver = self._start()
        try:
            while self._todo():
                self._disturb(self._choose.choice(self._todo()))
            if generator.wait() != 0:
                raise SoakError("the generator has failed")
            self._catch_up()
            self._stop()
        finally:
            generator.kill()
            self._end(self._driver)
        self._check()
        return self._report

    def _todo(self) -> list[str]:
        kills, plan = self._report.kills, self._plan
        others = plan.others - kills["slot host"] - kills["Python worker"]
        drivers = plan.kills - kills["driver"]
        return ["driver"] * drivers + ["slot host", "Python worker"] * max(0, others)

    def _disturb(self, what: str) -> None:
        if self._choose.random() < 0.6:  # else while it starts, or starts again
            self._wait_for_progress()
        time.sleep(self._choose.uniform(0, 2 * self._plan.pause))
        self._require_running()
        if what == "driver":
            self._end(self._driver)
            self._driver = self._start()
        else:
            mark = SLOT_HOST if what == "slot host" else PYTHON_WORKER
            found = [p for p in descendants(self._driver.pid) if mark in p.command]
            if not found:
                return
            self._choose.choice(found).kill()
        self._report.kills[what] += 1
        newest, seconds = self._newest_checkpoint(), time.monotonic() - self._begun
        self._tell(
            f"{seconds:6.0f} s: kill {self._report.kills.total()}, of a {what}; "
            f"newest checkpoint {newest.name if newest else 'none'}"
        )

    def _wait_for_progress(self) -> None:
        """Wait for a checkpoint since the last time something was killed."""
        deadline = time.monotonic() + self._plan.patience
        before = self._newest_checkpoint()
        while self._newest_checkpoint() == before:
            self._require_running()
            if time.monotonic() > deadline:
                raise SoakError(f"no checkpoint in {self._plan.patience} s:\n{self._end_of_log()}")
            time.sleep(0.2)

    def _generate(self) -> subprocess.Popen[bytes]:
        options = ["--seconds", str(self._plan.seconds), "--rate", str(self._plan.rate)]
        command = [sys.executable, "-m", "tests.faults.events", str(self._input), *options]
        return subprocess.Popen(command, cwd=ROOT)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pyflink_on_spark", str(JOB)]
        command += [str(self._input), str(self._output), str(self._checkpoints)]
        command += ["--parallelism", str(self._plan.parallelism)]
        newest = self._newest_checkpoint()
        if newest is not None:
            command += ["--restore", str(newest)]
            self._report.restored += 1
        with self._log.open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)

    def _newest_checkpoint(self) -> Path | None:
        complete = self._checkpoints.glob("*/chk-*/_metadata")
        times: list[tuple[int, Path]] = []
        for path in complete:
            with contextlib.suppress(FileNotFoundError):  # an older one may go at any moment
                times.append((path.stat().st_mtime_ns, path.parent))
        return max(times)[1] if times else None

    def _end(self, driver: subprocess.Popen[bytes]) -> None:
        """Kill the driver; what it has started has to end by itself."""
        family: list[Process] = descendants(driver.pid)
        driver.kill()
        driver.wait()
        for orphan in still_alive(family, ORPHANS_END_WITHIN):
            self._report.problems.append(f"outlives its driver: {orphan}")
            orphan.kill()

    def _require_running(self) -> None:
        if self._driver.poll() is not None:
            raise SoakError(f"the job has ended:\n{self._end_of_log()}")

    def _end_of_log(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-60:])

    def _catch_up(self) -> None:
        self._report.events = EVENTS_A_FILE * len(list(self._input.glob("[0-9]*")))
        deadline = time.monotonic() + self._plan.patience
        while len(self._lines("counts")) < self._report.events:
            self._require_running()
            if time.monotonic() > deadline:
                found = len(self._lines("counts"))
                raise SoakError(
                    f"{found} of {self._report.events} events after {self._plan.patience} s:\n"
                    + self._end_of_log()
                )
            time.sleep(0.5)

    def _stop(self) -> None:
        (self._output / "stop").touch()
        if self._driver.wait(self._plan.patience) != 0:
            raise SoakError(f"the job did not end well:\n{self._end_of_log()}")

    def _lines(self, what: str) -> list[str]:
        files = sorted((self._output / what).glob("part-*"))
        return [line for path in files for line in path.read_text().splitlines()]

    def _check(self) -> None:
        report, events = self._report, self._report.events
        report.problems += check_counts(self._lines("counts"), events)
        windows, expected = sorted(self._lines("windows")), expected_windows(events)
        report.windows = len(expected)
        for name, others in (("lost", Counter(expected)), ("not expected", Counter(windows))):
            left = others - Counter(windows if name == "lost" else expected)
            if left:
                found = sum(left.values())
                report.problems.append(f"{found} windows are {name}, such as {list(left)[:3]}")
        report.files = len(list(self._output.glob("*/part-*")))
        if hidden := list(self._output.glob("*/.*")):
            report.problems.append(f"{len(hidden)} hidden files are left, such as {hidden[0].name}")


def main() -> int:
    """Run it as the command line says; the exit code is 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--kills", type=int, default=20, help="of the driver")
    parser.add_argument("--others", type=int, default=10, help="of slot hosts and Python workers")
    parser.add_argument("--rate", type=float, default=500, help="events a second")
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--pause", type=float, default=6.0, help="mean seconds between two kills")
    parser.add_argument("--folder", type=Path, help="where to leave everything; a new one")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"seed: {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        plan = Plan(
            options.folder or Path(folder),
            60 * options.minutes,
            options.rate,
            options.kills,
            options.others,
            options.parallelism,
            options.pause,
        )
        try:
            tell = partial(print, flush=True)
            report = Soak(plan, random.Random(options.seed), tell).run()
        except SoakError as error:
            print(error)
            return 1
    print(report)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
