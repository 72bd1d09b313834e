"""The processes of a job, as the operating system tells of them (Linux)."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

_PYTHON = "pyspark.daemon"
_LISTENING = "0A"


@dataclass(frozen=True)
class Process:
    """One process; another one that gets its number later is not it.

    Args:
        number: its process id.
        started: when it was started, in the system's ticks.
        parent: its parent's process id.
        command: its command line.
    """

    number: int
    started: int
    parent: int
    command: str

    @property
    def alive(self) -> bool:
        """True while the process exists."""
        now = process_of(self.number)
        return now is not None and now.started == self.started

    def kill(self, number: int = signal.SIGKILL) -> bool:
        """Send a signal; true if the process was still there.

        Args:
            number: of the signal; by default that which ends a process at once.
        """
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.number, number)
                return True
        return False


def hosts(processes: list[Process]) -> list[Process]:
    """Return Spark's Python workers, in each of which a host may run: children of a daemon."""
    daemons = {process.number for process in processes if _PYTHON in process.command}
    return [p for p in processes if p.number in daemons and p.parent in daemons]


def python_daemons(processes: list[Process]) -> list[Process]:
    """Return the processes that start Spark's Python workers."""
    workers = hosts(processes)
    return [p for p in processes if _PYTHON in p.command and p not in workers]


def java_processes(processes: list[Process]) -> list[Process]:
    """Return the Java processes."""
    return [p for p in processes if p.command.partition(" ")[0].endswith("java")]


def descendants(number: int) -> list[Process]:
    """Return all processes that a process has started, and those that they have."""
    children: dict[int, list[Process]] = {}
    for entry in os.listdir("/proc"):
        process = process_of(int(entry)) if entry.isdigit() else None
        if process is not None:
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [number]
    while parents:
        below = children.get(parents.pop(), [])
        found += below
        parents += [process.number for process in below]
    return found


def still_alive(processes: list[Process], seconds: float) -> list[Process]:
    """Return the processes that do not end within some time."""
    deadline = time.monotonic() + seconds
    left = [process for process in processes if process.alive]
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = [process for process in left if process.alive]
    return left


def listens(process: Process) -> bool:
    """Return whether others can connect with a process over TCP; of Spark's workers hosts only."""
    folder = Path("/proc", str(process.number))
    try:
        table = "".join((folder / "net" / name).read_text() for name in ("tcp", "tcp6"))
        opened = {os.readlink(entry) for entry in (folder / "fd").iterdir()}
    except OSError:
        return False
    rows = [line.split() for line in table.splitlines()]
    return any(row[3] == _LISTENING and f"socket:[{row[9]}]" in opened for row in rows)


def process_of(number: int) -> Process | None:
    """Return the process with an id; None if there is none, or it has ended."""
    folder = Path("/proc", str(number))
    try:
        _, _, rest = (folder / "stat").read_text().rpartition(")")
        state, parent, *others = rest.split()
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (OSError, ValueError):
        return None
    return None if state in "ZX" else Process(number, int(others[17]), int(parent), command)
