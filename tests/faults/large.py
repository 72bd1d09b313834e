"""Runs programs on Spark with more than usual in one place, and looks at results and memory.

    python -m tests.faults.large [entries] [record] [jobs]

The cases are a key with a million entries of list state, a record of 100 MB that two subtasks
receive, and ten programs with ten jobs each, two programs at a time. The memory is the largest
resident set of a process of each kind. A wrong result, or more memory than a case may take, is an
error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.processes import descendants, hosts, java_processes

ROOT = Path(__file__).resolve().parents[2]
JOB = Path(__file__).with_name("large_job.py")
MEGABYTE = 1024 * 1024
SECONDS = 900.0
KEYS = 10


@dataclass(frozen=True)
class Case:
    """A program that runs, and its limits.

    Args:
        kind: the first argument of the program.
        much: the second one.
        programs: how many run.
        at_once: how many of them run at a time: each has a JVM, and two fill two processors.
        limits: how much memory a process may take, by its kind, in MB.
        right: whether the lines that a program has printed are right.
    """

    kind: str
    much: int
    programs: int
    limits: dict[str, int]
    right: Callable[[list[str]], bool]
    at_once: int = 2


def bytes_of(size):
    """Return so many bytes, which do not compress to nothing."""
    block = hashlib.sha512(b"block").digest()
    return block * (size // len(block)) + block[: size % len(block)]


def digest_of(content):
    """Return the number of bytes and their digest."""
    return f"{len(content)} {hashlib.sha256(content).hexdigest()}"


def right_entries(lines: list[str]) -> bool:
    """Return whether the list had each number once."""
    return lines == [f"1000000 {sum(range(1_000_000))}"]


def right_record(lines: list[str]) -> bool:
    """Return whether both subtasks had the record."""
    return sorted(line.partition("> ")[2] for line in lines) == [digest_of(bytes_of(10**8))] * 2


def right_jobs(lines: list[str]) -> bool:
    """Return whether the sums of each key of each job were there, each number added once."""
    wanted: Counter[str] = Counter()
    for job in range(10):
        sums = [0] * KEYS
        for value in range(10_000 + job):
            sums[value % KEYS] += value
            wanted[f"job {job} key {value % KEYS} {sums[value % KEYS]}"] += 1
    return Counter(lines) == wanted


CASES = {
    "entries": Case("entries", 10**6, 1, {"driver": 300, "host": 400, "JVM": 1000}, right_entries),
    "record": Case("record", 10**8, 1, {"driver": 300, "host": 900, "JVM": 1000}, right_record),
    "jobs": Case("jobs", 10, 10, {"driver": 300, "host": 200, "JVM": 1000}, right_jobs),
}


def largest(drivers: Iterable[int], seen: dict[str, int]) -> None:
    """Note the largest resident set of each kind of process so far, in MB."""
    for driver in drivers:
        family = descendants(driver)
        kinds = {"host": hosts(family), "JVM": java_processes(family)}
        numbers = {kind: [process.number for process in found] for kind, found in kinds.items()}
        for kind, found in (numbers | {"driver": [driver]}).items():
            for number in found:
                with contextlib.suppress(OSError, IndexError, ValueError):
                    status = Path("/proc", str(number), "status").read_text()
                    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024 // MEGABYTE
                    seen[kind] = max(seen.get(kind, 0), peak)


def _running(programs: list[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    return [program for program in programs if program.poll() is None]


def run(case: Case, folder: Path) -> str:
    """Run a case; return what it took.

    Raises:
        AssertionError: a program failed, a result is wrong, or a process took too much memory.
    """
    command = [
        sys.executable, "-m", "pyflink_on_spark", "run",
        "-Dexecution.checkpointing.interval=2 s",
        f"-Dexecution.checkpointing.dir={(folder / 'checkpoints').as_uri()}",
        str(JOB), case.kind, str(case.much),
    ]  # fmt: skip
    home = {"PYTHONPATH": str(ROOT), "PYFLINK_ON_SPARK_HOME": str(folder / "home")}
    begun, seen = time.monotonic(), dict[str, int]()
    outputs = [folder / f"output-{number}" for number in range(case.programs)]
    programs: list[subprocess.Popen[bytes]] = []
    try:
        while _running(programs) or len(programs) < case.programs:
            assert time.monotonic() - begun < SECONDS, f"{case.kind}: not ended in {SECONDS} s"
            for path in outputs[len(programs) :][: case.at_once - len(_running(programs))]:
                with path.open("wb") as output, path.with_suffix(".log").open("wb") as log:
                    programs.append(
                        subprocess.Popen(command, env=os.environ | home, stdout=output, stderr=log)
                    )
            largest((program.pid for program in _running(programs)), seen)
            time.sleep(0.2)
    finally:
        for program in programs:
            program.terminate()
    for program, path in zip(programs, outputs, strict=True):
        assert program.returncode == 0, path.with_suffix(".log").read_text()[-3000:]
        assert case.right(path.read_text().splitlines()), f"{case.kind}: {path} is wrong"
    for kind, limit in case.limits.items():
        assert seen[kind] <= limit, f"{case.kind}: a {kind} took {seen[kind]} MB of {limit}"
    memory = ", ".join(f"{kind} {most} MB" for kind, most in sorted(seen.items()))
    return f"{case.kind}: right in {time.monotonic() - begun:.0f} s; at most {memory}"


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as given:
            print(run(CASES[name], Path(given)), flush=True)
