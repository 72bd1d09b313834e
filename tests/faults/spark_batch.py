"""Faults of Spark under a job with BATCH semantics, and checks of the job's output.

Hidden files may be left: a task that ends before the driver knows what it wrote removes nothing.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.cluster import Cluster
from tests.faults.disturbed import ORPHANS_END_WITHIN, ROOT
from tests.faults.events import EVENTS_A_FILE, check_counts, write_file
from tests.faults.machines import Machine
from tests.faults.processes import still_alive

JOB = Path(__file__).with_name("batch_job.py")
FILES = 20
_BEGINS_WITHIN = 120.0
_ENDS_WITHIN = 120.0
_CUT = 15.0


def _remove_shuffle_files(cluster: Cluster, _machine: Machine) -> None:
    for file in cluster.shuffle_files():
        file.unlink()


def _cut_off(_: Cluster, machine: Machine) -> None:
    machine.cut()
    time.sleep(_CUT)
    machine.mend()


def _replace_worker(cluster: Cluster, machine: Machine) -> None:
    cluster.kill_worker(machine)
    cluster.start_worker(machine)


FAULTS: dict[str, Callable[[Cluster, Machine], None]] = {
    "an executor is killed between two stages": Cluster.kill_executor,
    "shuffle files are removed": _remove_shuffle_files,
    f"a machine is cut off for {_CUT:g} s": _cut_off,
    "a worker and its executor are killed": _replace_worker,
}


class BatchRun:
    """One run of the job.

    Args:
        cluster: where it runs.
        folder: for everything.
    """

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder
        self._input, self._output = folder / "events", folder / "output"
        for made in (self._input, self._output):
            made.mkdir(parents=True)

    def run(self, strike: Callable[[Cluster, Machine], None], machine: Machine) -> list[str]:
        """Run the job, let something happen when its last stage begins; return what is wrong."""
        for index in range(FILES):
            write_file(self._input, index)
        with (self._folder / "job.log").open("wb") as log:
            driver = subprocess.Popen(self._command(), cwd=ROOT, stdout=log, stderr=log)
        try:
            self._await_last_stage(driver)
            strike(self._cluster, machine)
            left = [p for m in self._cluster.machines for p in self._cluster.processes(m)]
            with contextlib.suppress(subprocess.TimeoutExpired):
                driver.wait(_ENDS_WITHIN)
        finally:
            driver.kill()
            driver.wait()
        orphans = still_alive(left, ORPHANS_END_WITHIN)
        return [*self._problems(driver), *(f"outlives its job: {orphan}" for orphan in orphans)]

    def _command(self) -> list[str]:
        options = [*self._cluster.command_line, "-pyfs", str(JOB.with_name("job.py"))]
        script = [str(JOB), str(self._input), str(self._output)]
        return [sys.executable, "-m", "pyflink_on_spark", *options, *script]

    def _await_last_stage(self, driver: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _BEGINS_WITHIN
        while not (self._output / "summing").exists():
            if driver.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the last stage does not begin: {self._end_of_log()}")
            time.sleep(0.05)

    def _problems(self, driver: subprocess.Popen[bytes]) -> list[str]:
        if driver.returncode != 0:
            return [f"the job has failed ({driver.returncode}): {self._end_of_log()}"]
        problems = check_counts(self._lines("counts"), FILES * EVENTS_A_FILE)
        if self._lines("sums") != self._expected_sums():
            problems.append("the sums are wrong")
        return problems

    def _expected_sums(self) -> list[str]:
        """Return the sums that follow from the counts, if these are right."""
        sums: dict[str, int] = {}
        lines = []
        for key, _, count in sorted(
            (line.split(",") for line in self._lines("counts")), key=lambda row: int(row[2])
        ):
            sums[key] = sums.get(key, 0) + int(count)
            lines.append(f"{key},{sums[key]}")
        return sorted(lines)

    def _lines(self, name: str) -> list[str]:
        files = (self._output / name).glob("part-*")
        return sorted(line for path in files for line in path.read_text().splitlines())

    def _end_of_log(self) -> str:
        return (self._folder / "job.log").read_text(errors="replace")[-3000:]
