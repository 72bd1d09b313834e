"""How long a command takes, start to end, and how much processor time, with all its processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_SAMPLE_SECONDS = 0.05
_LINGER_SECONDS = 30
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class CommandFailed(Exception):
    """A command that was to be measured failed, or took longer than it may."""


@dataclass(frozen=True)
class Run:
    """One run of a command.

    Args:
        seconds: by the clock.
        processor_seconds: of all processes.
        output: what it printed.
        parts: the processor seconds of the command itself, as ``command``, and of the processes
            that it started, by the name of their program.
    """

    seconds: float
    processor_seconds: float
    output: str
    parts: dict[str, float]


def run(command, *, env, cwd, timeout):
    """Run a command and return its `Run`; raise `CommandFailed` with its output when it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        process = subprocess.Popen(
            command, env=env, cwd=cwd, stdout=output, stderr=errors, start_new_session=True
        )
        session = _Session(process.pid)
        status = _wait(process, session, start + timeout)
        seconds = time.monotonic() - start
        session.end(_LINGER_SECONDS if status == 0 else 0)
        process.wait()
        output.seek(0)
        errors.seek(0)
        if status != 0:
            what = "timed out" if status is None else f"ended with {status}"
            tail = "\n".join((output.read() + errors.read()).splitlines()[-30:])
            raise CommandFailed(f"{' '.join(map(str, command))} {what}:\n{tail}")
        return Run(seconds, session.processor_seconds, output.read(), session.parts)


def _wait(process, session, deadline):
    """The command's exit status, or None when it is still running at the deadline."""
    while time.monotonic() < deadline:
        session.sample()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_SAMPLE_SECONDS)
    return None


class _Session:
    """The processes of one session: whatever a command started, and what these started in turn.

    Their times are read while they live. What the system adds up for a parent is not all: PySpark
    ends its Python workers without waiting for them, and their time is lost to everyone.
    """

    def __init__(self, leader):
        self._leader = leader
        self._ticks = {}
        self._programs = {}

    @property
    def processor_seconds(self):
        return sum(self._ticks.values()) / TICKS_PER_SECOND

    @property
    def parts(self):
        found = defaultdict(float)
        for process, ticks in self._ticks.items():
            found[self._programs[process]] += ticks / TICKS_PER_SECOND
        return dict(found)

    def sample(self):
        """Read the processor times of the session's processes; return the ids of the living."""
        living = []
        for process in processes_of(self._leader):
            program = "command" if process.id == self._leader else process.program
            self._programs[process.id] = program
            self._ticks[process.id] = process.ticks
            if process.lives:
                living.append(process.id)
        return living

    def end(self, patience):
        """Wait for processes that outlive the command, and end those that stay too long."""
        deadline = time.monotonic() + patience
        while self.sample():
            if time.monotonic() > deadline:
                end_session(self._leader)
            time.sleep(_SAMPLE_SECONDS)


class Process(NamedTuple):
    """A process of a session.

    Args:
        id: its id.
        program: the name of its program.
        lives: whether it has not ended.
        ticks: its processor time.
        ticks_of_ended: that of its children that have ended and that it has waited for.
    """

    id: int
    program: str
    lives: bool
    ticks: int
    ticks_of_ended: int


def processes_of(leader):
    """Return the processes of a session, the ended ones that nobody has waited for among them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        # The second field is the command's name, in parentheses, and may hold any character.
        before, _, after = stat.rpartition(")")
        fields = after.split()
        if int(fields[3]) == leader:
            times = [int(field) for field in fields[11:15]]
            found.append(
                Process(
                    int(folder.name), before.partition("(")[2], fields[0] != "Z",
                    times[0] + times[1], times[2] + times[3],
                )
            )  # fmt: skip
    return found


def end_session(leader):
    """Kill the processes of a session."""
    for process in processes_of(leader):
        if process.lives:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.id, signal.SIGKILL)
