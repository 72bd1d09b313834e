"""Runs a script in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
