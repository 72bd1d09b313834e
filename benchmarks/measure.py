"""How long a command takes, start to end, and how much processor time, children included."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

_SET_CHILD_SUBREAPER = 36
_LINGER_SECONDS = 30


class CommandFailed(Exception):
    """A command that was to be measured failed, or took longer than it may."""


@dataclass(frozen=True)
class Run:
    """One run of a command: seconds by the clock and of processor time, and what it printed."""

    seconds: float
    processor_seconds: float
    output: str


def run(command, *, env, cwd, timeout):
    """Run a command and return its `Run`; raise `CommandFailed` with its output when it fails."""
    _adopt_orphans()
    before = _processor_seconds_of_children()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        process = subprocess.Popen(
            command, env=env, cwd=cwd, stdout=output, stderr=errors, start_new_session=True
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        seconds = time.monotonic() - start
        _reap_group(process, _LINGER_SECONDS if status == 0 else 0)
        output.seek(0)
        errors.seek(0)
        if status != 0:
            what = "timed out" if status is None else f"ended with {status}"
            tail = "\n".join((output.read() + errors.read()).splitlines()[-30:])
            raise CommandFailed(f"{' '.join(map(str, command))} {what}:\n{tail}")
        return Run(seconds, _processor_seconds_of_children() - before, output.read())


def _adopt_orphans():
    # A JVM or a Python worker may outlive the command; its time counts only for who reaps it.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _processor_seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _reap_group(process, patience):
    """Wait for what the command left behind, and end what stays longer than `patience` seconds."""
    deadline = time.monotonic() + patience
    killed = False
    while _has_children():
        if time.monotonic() > deadline:
            if killed:
                raise CommandFailed(f"process {process.pid} left processes behind that do not end")
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            killed = True
            deadline = time.monotonic() + _LINGER_SECONDS
        time.sleep(0.05)


def _has_children():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
