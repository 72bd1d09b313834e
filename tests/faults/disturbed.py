"""A job that is killed again and again while its input grows; what both soaks have in common."""

from __future__ import annotations

import argparse
import contextlib
import glob
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.faults.processes import (
    Process,
    descendants,
    hosts,
    java_processes,
    process_of,
    python_daemons,
    still_alive,
)

ROOT = Path(__file__).resolve().parents[2]
ORPHANS_END_WITHIN = 20.0
"""In seconds; a JVM has files to remove before it ends."""
ENDS_WITHOUT_SPARK_WITHIN = 60.0
"""In seconds."""


OTHERS = {"host": hosts, "Python daemon": python_daemons, "Java process": java_processes}
"""The processes killed besides the driver, and how they are found among the driver's children."""
SAVEPOINT = "savepoint"
SIGNALS = ("KILL", "TERM", "STOP", "BACK")
"""The ways to strike: BACK suspends a driver until another one has its job."""
_FREEZES = (0.5, 15.0)
_FORKS_END_WITHIN = 3.0
"""In seconds: what a JVM starts has its name for a moment."""
_ENDS_WHEN_BACK_WITHIN = 180.0
"""In seconds: an old driver has to see at its next checkpoint that it is not the owner."""
COMMITTED = "*/query/commits/[0-9]*"


class SoakError(AssertionError):
    """A result of the soak is wrong."""


@dataclass
class Plan:
    """The plan of a soak.

    Args:
        folder: for everything.
        seconds: how long events are written.
        rate: how many a second.
        kills: how often the driver is killed.
        others: how many other processes are killed.
        savepoints: how often the job is stopped with a savepoint, and resumes from it.
        parallelism: of the job; each start takes one of them.
        pause: the mean time between two kills, in seconds.
        patience: how long the job has to catch up in the end, in seconds.
        engine: that runs the job.
        signals: those that strike processes, of ``SIGNALS``.
    """

    folder: Path
    seconds: float
    rate: float = 500
    kills: int = 20
    others: int = 10
    savepoints: int = 0
    parallelism: Sequence[int] = (2,)
    pause: float = 5.0
    patience: float = 300.0
    engine: str = "hosts"
    signals: Sequence[str] = ("KILL",)


@dataclass
class Report:
    """The report of a soak.

    Args:
        kills: how often what was killed.
        restored: how many of the driver's restarts resumed from a checkpoint.
        savepoints: how many resumed from the savepoint with which the job was stopped.
        rescaled: how many had another parallelism than the job before.
        records: how many of what were checked.
        problems: what is wrong.
    """

    kills: Counter[str] = field(default_factory=Counter)
    restored: int = 0
    savepoints: int = 0
    rescaled: int = 0
    records: str = ""
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        killed = ", ".join(f"{count} x {what}" for what, count in sorted(self.kills.items()))
        wrong = "\n  ".join(self.problems) or "nothing is lost, nothing is there twice"
        return (
            f"killed: {sum(self.kills.values())} ({killed or 'nothing'}); "
            f"{self.restored} restarts from a checkpoint, {self.savepoints} from a savepoint, "
            f"{self.rescaled} with another parallelism\n"
            f"records: {self.records}\n"
            f"result: {wrong}"
        )


class DisturbedJob(ABC):
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
        self._parallelism = 0
        self._savepoint: Path | None = None
        self._output = plan.folder / "output"
        self._checkpoints, self._log = plan.folder / "checkpoints", plan.folder / "job.log"
        for inside in (self._output, self._checkpoints):
            inside.mkdir(parents=True)
        self._key = (plan.folder / "key").resolve()
        self._key.write_text(secrets.token_hex(32))

    @abstractmethod
    def _generator(self) -> list[str]:
        """Return the command that writes events for some time."""

    @abstractmethod
    def _job(self) -> list[str]:
        """Return the job's script and its arguments."""

    @abstractmethod
    def _count_events(self) -> int:
        """Return how many events were written."""

    @abstractmethod
    def _count_seen(self) -> int:
        """Return how many events the job is through with."""

    @abstractmethod
    def _check(self, events: int) -> None:
        """Look at what the job wrote."""

    def run(self) -> Report:
        """Write events, disturb the job, let it catch up, and look at what it wrote."""
        generator = subprocess.Popen(self._generator(), cwd=ROOT)
        self._driver = self._start()
        try:
            while self._todo():
                self._disturb(self._choose.choice(self._todo()))
            self._await_events(generator)
            events = self._catch_up()
            self._stop()
        finally:
            generator.kill()
            self._bury(self._kill())
        self._check(events)
        return self._report

    def _await_events(self, generator: subprocess.Popen[bytes]) -> None:
        """Wait until all events are written."""
        if generator.wait() != 0:
            raise SoakError("the generator has failed")

    def _todo(self) -> list[str]:
        kills, plan = self._report.kills, self._plan
        others = plan.others - sum(n for what, n in kills.items() if what.startswith(tuple(OTHERS)))
        drivers = plan.kills - sum(n for what, n in kills.items() if what.startswith("driver"))
        savepoints = plan.savepoints - self._report.savepoints
        todo = ["driver"] * drivers + [*OTHERS, "host", "host", "Python daemon"] * max(0, others)
        return todo + [SAVEPOINT] * max(0, savepoints)

    def _disturb(self, what: str) -> None:
        if self._choose.random() < 0.6:  # else while it starts, or starts again
            self._wait_for_progress()
        time.sleep(self._choose.uniform(0, 2 * self._plan.pause))
        self._require_running()
        if what == SAVEPOINT:
            self._move()
            return
        how = self._choose.choice(self._plan.signals)
        if what == "driver":
            what = self._strike_driver(how)
        elif how == "BACK" or not self._strike_other(what, how):
            return
        what = what if how == "KILL" else f"{what} by {how}"
        self._report.kills[what] += 1
        newest = self._newest_checkpoint()
        self._tell(
            f"{self._seconds():6.0f} s: kill {self._report.kills.total()}, of a {what}; "
            f"newest checkpoint {newest.name if newest else 'none'}"
        )

    def _move(self) -> None:
        """Stop the job with a savepoint, and resume from it."""
        self._wait_for_progress()
        family, before = descendants(self._driver.pid), set(self._savepoints())
        stop = self._output / "suspend"
        stop.touch()
        if self._driver.wait(self._plan.patience) != 0:
            raise SoakError(f"the job did not stop with a savepoint:\n{self._end_of_log()}")
        stop.unlink()
        self._bury(family)
        (self._savepoint,) = set(self._savepoints()) - before
        self._report.savepoints += 1
        self._driver = self._start()
        self._tell(f"{self._seconds():6.0f} s: stopped with {self._savepoint.name}")

    def _savepoints(self) -> list[Path]:
        return [path.parent for path in self._checkpoints.glob("savepoints/*/_metadata")]

    def _strike_driver(self, how: str) -> str:
        """Strike the driver and start the next one; return the name of the strike."""
        what = "driver"
        if how == "STOP":
            self._freeze(process_of(self._driver.pid))
        elif how == "BACK":
            self._come_back()
        elif how == "TERM":
            family = descendants(self._driver.pid)
            self._driver.terminate()
            self._bury(family)
            self._driver = self._start()
        else:
            what, family = self._kill_driver()
            self._bury(family)
            self._driver = self._start()
        return what

    def _come_back(self) -> None:
        """Suspend the driver until another one has taken over the job.

        A driver that has read a savepoint continues beside the other one, as does one without any.
        """
        newest = self._newest_checkpoint()
        if newest in (None, self._savepoint) or self._plan.engine != "hosts":
            self._wait_for_progress()
        old, family = self._driver, descendants(self._driver.pid)
        old.send_signal(signal.SIGSTOP)
        self._driver = self._start()
        try:
            self._wait_for_progress()
        finally:
            old.send_signal(signal.SIGCONT)
        try:
            old.wait(_ENDS_WHEN_BACK_WITHIN)
        except subprocess.TimeoutExpired:
            self._report.problems.append("an old driver continues a job that is not its own")
            old.kill()
        for orphan in still_alive(family, ORPHANS_END_WITHIN):
            self._report.problems.append(f"outlives an old driver: {orphan}")
            orphan.kill()

    def _freeze(self, process: Process | None) -> bool:
        """Suspend a process for a while."""
        if process is None or not process.kill(signal.SIGSTOP):
            return False
        time.sleep(self._choose.uniform(*_FREEZES))
        process.kill(signal.SIGCONT)
        return True

    def _strike_other(self, what: str, how: str) -> bool:
        """Strike another process than the driver; true if there was one."""
        family = descendants(self._driver.pid)
        found = OTHERS[what](family)
        if not found:
            return False
        chosen = self._choose.choice(found)
        if how == "STOP":
            return self._freeze(chosen)
        if not chosen.kill(signal.SIGTERM if how == "TERM" else signal.SIGKILL):
            return False
        if what == "Java process":
            self._end_without_spark(family)
        return True

    def _end_without_spark(self, family: list[Process]) -> None:
        """Wait for the driver, which has to end with an error by itself; start it again.

        A driver whose Java process ends while it starts may start another one.
        """
        deadline = time.monotonic() + ENDS_WITHOUT_SPARK_WITHIN
        while self._driver.poll() is None:
            new = java_processes([p for p in descendants(self._driver.pid) if p not in family])
            if new and still_alive(new, _FORKS_END_WITHIN):
                return
            if time.monotonic() > deadline:
                self._report.problems.append("the driver outlives its Java process")
                self._driver.kill()
                break
            time.sleep(0.1)
        else:
            if self._driver.returncode != 1:
                code = self._driver.returncode
                self._report.problems.append(f"without Spark the driver ends with the code {code}")
        self._bury(family)
        self._driver = self._start()

    def _kill_driver(self) -> tuple[str, list[Process]]:
        """Kill the driver; return what to call that, and what it had started."""
        return "driver", self._kill()

    def _kill(self) -> list[Process]:
        family = descendants(self._driver.pid)
        self._driver.kill()
        return family

    def _bury(self, family: list[Process]) -> None:
        """Wait for what the driver had started, which has to end by itself."""
        self._driver.wait()
        for orphan in still_alive(family, ORPHANS_END_WITHIN):
            self._report.problems.append(f"outlives its driver: {orphan}")
            orphan.kill()

    def _wait_for_progress(self) -> None:
        """Wait for a checkpoint since the last time something was killed."""
        deadline = time.monotonic() + self._plan.patience
        before = self._newest_checkpoint()
        while self._newest_checkpoint() == before:
            self._require_running()
            if time.monotonic() > deadline:
                raise SoakError(f"no checkpoint in {self._plan.patience} s:\n{self._end_of_log()}")
            time.sleep(0.2)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pyflink_on_spark", "run", "--engine", self._plan.engine]
        if self._plan.engine == "hosts":
            command += ["-D", f"pyflink-on-spark.checkpoint-key={self._key.as_uri()}"]
        command += self._job()
        command += ["--checkpoints", str(self._checkpoints)]
        parallelism = self._choose.choice(self._plan.parallelism)
        command += ["--parallelism", str(parallelism)]
        self._report.rescaled += self._parallelism not in (0, parallelism)
        self._parallelism = parallelism
        newest = self._newest_checkpoint()
        if newest is not None:
            command += ["--restore", str(self._restored(newest))]
            self._report.restored += newest != self._savepoint
        with self._log.open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)

    def _newest_checkpoint(self) -> Path | None:
        """Return the folder of a checkpoint, or the file with which a micro-batch is committed."""
        # Unlike the method of Path, this looks past folders that are removed meanwhile.
        found = glob.glob("*/chk-*/_metadata", root_dir=self._checkpoints)
        complete = [self._checkpoints / name for name in found]
        if self._savepoint is not None:
            complete.append(self._savepoint / "_metadata")
        times: list[tuple[int, Path]] = []
        for path in (*complete, *self._checkpoints.glob(COMMITTED)):
            with contextlib.suppress(FileNotFoundError):  # an older one may go at any moment
                folder = path.parent if path.name == "_metadata" else path
                times.append((path.stat().st_mtime_ns, folder))
        return max(times)[1] if times else None

    def _restored(self, checkpoint: Path) -> Path:
        """Return the folder from which a job restores: of a query, the whole folder."""
        return checkpoint.parents[2] if checkpoint.match(COMMITTED) else checkpoint

    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _require_running(self) -> None:
        if self._driver.poll() is not None:
            raise SoakError(f"the job has ended:\n{self._end_of_log()}")

    def _end_of_log(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-60:])

    def _catch_up(self) -> int:
        events = self._count_events()
        deadline = time.monotonic() + self._plan.patience
        while (seen := self._count_seen()) < events:
            self._require_running()
            if time.monotonic() > deadline:
                raise SoakError(
                    f"{seen} of {events} events after {self._plan.patience} s:\n"
                    + self._end_of_log()
                )
            time.sleep(0.5)
        return events

    def _stop(self) -> None:
        (self._output / "stop").touch()
        if self._driver.wait(self._plan.patience) != 0:
            raise SoakError(f"the job did not end well:\n{self._end_of_log()}")

    def _compare(self, what: str, found: list[str], expected: list[str]) -> None:
        """Note what is missing, and what is there that should not be."""
        lost, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
        for name, left in (("lost", lost), ("not expected", more)):
            if left:
                some = list(left)[:3]
                self._report.problems.append(f"{left.total()} {what} are {name}, such as {some}")


def arguments(description: str) -> argparse.ArgumentParser:
    """Return the parser for the command lines of all soaks."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--kills", type=int, default=20, help="of the driver")
    parser.add_argument("--others", type=int, default=10, help="of other processes")
    parser.add_argument("--savepoints", type=int, default=2, help="with which the job is moved")
    parser.add_argument("--rate", type=float, default=500, help="events a second")
    parser.add_argument(
        "--parallelism", type=int, nargs="+", default=[2], help="one for each start"
    )
    parser.add_argument("--pause", type=float, default=6.0, help="mean seconds between two kills")
    parser.add_argument("--engine", choices=("hosts", "structured"), default="hosts")
    parser.add_argument(
        "--signals", choices=SIGNALS, nargs="+", default=["KILL"], help="one for each strike"
    )
    parser.add_argument("--folder", type=Path, help="where to leave everything; a new one")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    return parser


def run_command(
    options: argparse.Namespace,
    make: Callable[[Plan, random.Random, Callable[[str], None]], DisturbedJob],
) -> int:
    """Run a soak as its command line says; return 1 if something is wrong."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"seed: {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        plan = Plan(
            options.folder or Path(folder),
            60 * options.minutes,
            options.rate,
            options.kills,
            options.others,
            options.savepoints,
            options.parallelism,
            options.pause,
            engine=options.engine,
            signals=options.signals,
        )
        try:
            report = make(plan, random.Random(options.seed), partial(print, flush=True)).run()
        except SoakError as error:
            print(error)
            return 1
    print(report)
    return 1 if report.problems else 0
