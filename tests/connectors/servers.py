"""Starts servers for tests: on a free port, in a folder of their own, as an ordinary user."""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path


def free_port() -> int:
    """Return a port of this host that nobody listens on.

    The system gives none of these to connections that programs open meanwhile.
    """
    while True:
        port = random.randrange(15_000, 32_000)
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def server_folder(user: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """Make a folder for a server, and say how to start its processes.

    Args:
        user: whose the folder is if the tests run as root; servers refuse that.

    Yields:
        The folder, and arguments for ``subprocess.Popen``.
    """
    folder = Path(tempfile.mkdtemp(prefix="server-"))
    identity = {}
    if os.getuid() == 0:
        found = pwd.getpwnam(user)
        os.chown(folder, found.pw_uid, found.pw_gid)
        identity = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    try:
        yield folder, identity
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def running(
    command: Sequence[str],
    ready: Callable[[], None],
    log: Path,
    seconds: float = 60,
    stop: signal.Signals = signal.SIGKILL,
    **options,
) -> Iterator[subprocess.Popen]:
    """Run a server until the end of the block.

    Args:
        command: starts it, in the foreground.
        ready: raises an exception as long as the server does not answer.
        log: a file for what it prints.
        seconds: how long it may take to answer.
        stop: what ends it and all that it has started; nobody needs its data any more.
        options: for ``subprocess.Popen``.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, **options
        )
    try:
        _wait(process, ready, log, time.monotonic() + seconds)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, stop)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen, ready: Callable[[], None], log: Path, until: float) -> None:
    while True:
        try:
            return ready()
        except Exception as error:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server does not run: {log.read_text()}") from error
        time.sleep(0.05)
