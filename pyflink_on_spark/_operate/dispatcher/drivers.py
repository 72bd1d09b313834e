"""Starts a driver for each script: a process of its own, which lives on without the server.

A driver gets its script over standard input, so that a list of processes shows no argument of it.
A prepared driver has started Spark before. It runs one script, as any other driver does.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pyflink_on_spark._operate.view.job_records import (
    VARIABLE,
    home,
    log_folder,
    new_log,
    private_file,
)
from pyflink_on_spark._options import python

MODULE = "pyflink_on_spark.tools.serve.driver"
PREPARE = "--prepare"
PLAN = "--plan"
PYTHON_DRIVER = "org.apache.flink.client.python.PythonDriver"
"""Flink's main class of Python programs."""
AS_MODULE = "--as-module"
"""The option of ``run`` that makes the script's name that of a module."""
_KEPT = 500
_PREPARE_AFTER_SECONDS = 10.0
_AT_START = re.compile(
    r"PYTHON\w*|PYSPARK_\w+|SPARK_\w+|JAVA_\w+|JDK_\w+|LD_\w+|LANG|LC_\w+|TZ|TMPDIR|FLINK_\w+"
)
"""The environment variables that a process reads when it starts."""


@dataclass(frozen=True)
class Submission:
    """A script that is to run.

    Args:
        script: its path, or the name of a module.
        arguments: its own.
        options: Flink's by key, and Spark's.
        module: whether ``script`` is the name of a module.
        directory: the working directory; None for the server's.
        environment: all environment variables; None for the server's.
        interpreter: the Python that runs the script.
        title: what people call the script.
        words: the arguments after ``run``, if they name the script, in place of ``arguments``.
    """

    script: str
    arguments: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    module: bool = False
    directory: str | None = None
    environment: Mapping[str, str] | None = None
    interpreter: str = sys.executable
    title: str = ""
    words: tuple[str, ...] | None = None

    def command_line(self) -> list[str]:
        """The arguments after ``run``."""
        options = [f"-D{key}={value}" for key, value in self.options.items()]
        if self.words is not None:
            return [*options, *self.words]
        module = [AS_MODULE] if self.module else []
        return [*options, *module, self.script, *self.arguments]

    def fits_a_prepared_driver(self) -> bool:
        """True if the script needs nothing that is settled before a driver gets its script."""
        decided = (python.EXECUTABLE.key, python.CLIENT_EXECUTABLE.key)
        if any(key.startswith("spark.") or key in decided for key in self.options):
            return False
        return self.interpreter == sys.executable and (
            self.environment is None or _at_start(self.environment) == _at_start(os.environ)
        )


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if _AT_START.fullmatch(name)}


class Driver:
    """A process that runs a script.

    Args:
        process: the process.
        log: what it writes to standard output and to standard error.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.id = uuid.uuid4().hex
        self.log, self._process = log, process
        self.title = ""
        threading.Thread(target=process.wait, name=f"driver {process.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def ended(self) -> int | None:
        """The exit status; None while the process runs."""
        return self._process.poll()

    def give(self, order: Mapping[str, object]) -> None:
        """Say which script to run.

        Raises:
            OSError: the process has ended.
        """
        with self._input as pipe:
            pipe.write(json.dumps(order).encode() + b"\n")

    def dismiss(self) -> None:
        """Let a driver without a script end."""
        with contextlib.suppress(OSError):
            self._input.close()

    def terminate(self) -> None:
        """Ask the process to end, as SIGTERM does."""
        self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait until the process has ended, or the time is over."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin


class Drivers:
    """The drivers that this process has started.

    Args:
        prepared: how many wait for a script.
        log_directory: where logs are; None for the folder of this user.
        later: calls a function some time from now, when the last script has begun.
    """

    def __init__(
        self,
        prepared: int = 0,
        log_directory: str | None = None,
        later: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self._wished, self._log_directory = prepared, log_directory
        self._later = later or _later
        self._prepared: list[Driver] = []
        self._drivers: OrderedDict[str, Driver] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def prepare(self) -> None:
        """Start drivers until as many wait as are to.

        Raises:
            OSError: a process cannot be started.
        """
        while True:
            with self._lock:
                self._prepared = [each for each in self._prepared if each.ended() is None]
                if self._closed or len(self._prepared) >= self._wished:
                    return
                driver = self._start([sys.executable], [PREPARE], None, None)
                self._prepared.append(driver)

    def launch(self, submission: Submission) -> Driver:
        """Run a script.

        Raises:
            OSError: the process cannot be started, or its log cannot be written.
        """
        driver = self._ready() if submission.fits_a_prepared_driver() else None
        if driver is None or not self._given(driver, submission):
            driver = self._start(
                [submission.interpreter], [], submission.environment, submission.directory
            )
            if not self._given(driver, submission):
                raise OSError(f"the driver has ended at once: see {driver.log}")
        with self._lock:
            self._drivers[driver.id] = driver
            over = [key for key, each in self._drivers.items() if each.ended() is not None]
            for key in over[:-_KEPT]:
                del self._drivers[key]
        self._later(self.prepare)
        return driver

    def plan(self, submission: Submission, seconds: float) -> subprocess.CompletedProcess[str]:
        """Let a script be looked at in a process of its own, which runs no job.

        Returns:
            the process that has ended; its output is the plan in JSON, if its status is 0.

        Raises:
            OSError: the process cannot be started.
            subprocess.TimeoutExpired: it takes too long.
        """
        return subprocess.run(
            [submission.interpreter, "-m", MODULE, PLAN],
            input=json.dumps(_order(submission, Path(os.devnull))) + "\n",
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def get(self, driver_id: str) -> Driver | None:
        """A driver; None if this process has not started it."""
        with self._lock:
            return self._drivers.get(driver_id)

    def close(self, seconds: float = 0.0) -> None:
        """Let drivers without a script end.

        Args:
            seconds: how long drivers with a script have to end; 0 lets them live on.
        """
        with self._lock:
            self._closed = True
            for driver in self._prepared:
                driver.dismiss()
            running = [each for each in self._drivers.values() if each.ended() is None]
        if seconds:
            for driver in running:
                driver.terminate()
            for driver in running:
                driver.wait(seconds)

    def _ready(self) -> Driver | None:
        with self._lock:
            while self._prepared:
                driver = self._prepared.pop(0)
                if driver.ended() is None:
                    return driver
        return None

    def _given(self, driver: Driver, submission: Submission) -> bool:
        """Give a script to a driver, with a log of its name; False if the driver has ended."""
        log = new_log(submission.title or submission.script, self._log_directory, driver.pid)
        driver.log.replace(log)
        driver.log, driver.title = log, submission.title or submission.script
        try:
            driver.give(_order(submission, log))
        except OSError:
            return False
        return True

    def _start(
        self,
        interpreter: list[str],
        options: list[str],
        environment: Mapping[str, str] | None,
        directory: str | None,
    ) -> Driver:
        folder = log_folder() if self._log_directory is None else Path(self._log_directory)
        folder.mkdir(parents=True, exist_ok=True)
        log = folder.resolve() / f"driver-{uuid.uuid4().hex}.log"
        with open(log, "ab", opener=private_file) as output:
            process = subprocess.Popen(
                [*interpreter, "-u", "-m", MODULE, *options],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd=directory,
                env=None if environment is None else {**environment, VARIABLE: str(home())},
            )
        return Driver(process, log)


def _order(submission: Submission, log: Path) -> dict[str, object]:
    """The description of a script as a driver reads it."""
    environment = submission.environment
    return {
        "arguments": submission.command_line(),
        "directory": submission.directory,
        "environment": None if environment is None else {**environment, VARIABLE: str(home())},
        "log": str(log),
    }


def _later(call: Callable[[], None]) -> None:
    timer = threading.Timer(_PREPARE_AFTER_SECONDS, call)
    timer.daemon = True
    timer.start()
