"""Spark's standalone cluster on this machine: a master, and workers, each in a process."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pyflink_on_spark._spark.session.java_home import find_java
from pyflink_on_spark._spark.session.spark_defaults import spark_home

_KIND = "org.apache.spark.deploy"
_LOGS = "app-*/*/stderr"
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Servers of a few minutes: to compile their code further costs more than it brings."""
_STARTS_WITHIN = 60.0
"""In seconds."""


class Standalone:
    """A cluster whose workers know nothing of this package; the end of the block ends it.

    Args:
        folder: for the logs and the work of all servers.
        host: the address of the master.
        settings: Spark's settings of the master and the workers.
        options: further options of each worker.
    """

    def __init__(
        self,
        folder: Path,
        host: str = "127.0.0.1",
        settings: Mapping[str, str] | None = None,
        options: Sequence[str] = ("--cores", "2", "--memory", "1g"),
    ) -> None:
        self._folder, self._host, self._options = folder, host, options
        properties = (f"-D{key}={value}" for key, value in (settings or {}).items())
        self._java_options = " ".join([_QUICK_START, *properties])
        self._servers: list[subprocess.Popen[bytes]] = []
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        try:
            log = self._start("master.Master", self._host)
            self.url = _said(log, r"Starting Spark master at (spark://\S+)")
        except BaseException:
            self.close()
            raise
        return self

    @property
    def local_folder(self) -> Path:
        """Where executors keep their shuffle files."""
        return self._folder / "local"

    def executor_logs(self) -> str:
        """Read the logs of all executors."""
        logs = sorted(self._folder.glob(_LOGS))
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in logs)

    def executors_started(self) -> int:
        """Count the executors of all jobs so far."""
        return len(list(self._folder.glob(_LOGS)))

    def __exit__(self, *_: object) -> None:
        self.close()

    def add_worker(
        self, host: str = "127.0.0.1", inside: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a worker, and wait until the master knows it.

        Args:
            host: its address.
            inside: a command before its own, which starts it somewhere else.
        """
        options = [self.url, "--work-dir", str(self._folder), *self._options]
        log = self._start("worker.Worker", host, *options, inside=inside)
        _said(log, r"(Successfully registered)")
        return self._servers[-1]

    def close(self) -> None:
        """End all servers; a worker ends its executors."""
        for server in reversed(self._servers):
            server.terminate()
        for server in self._servers:
            server.wait()

    def _start(self, name: str, host: str, *arguments: str, inside: Sequence[str] = ()) -> Path:
        """Start a server; return its log."""
        environment = {
            "PATH": os.environ["PATH"],
            "JAVA_HOME": str(find_java().home),
            "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_DIRS": str(self.local_folder),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": self._java_options,
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [*inside, str(spark_home() / "bin" / "spark-class"), f"{_KIND}.{name}"]
        command += [*arguments, "--host", host, "--port", "0", "--webui-port", "0"]
        log = self._folder / f"{name.partition('.')[0]}-{next(self._numbers)}.log"
        with log.open("wb") as output:
            server = subprocess.Popen(
                command, cwd=self._folder, env=environment, stdout=output, stderr=output
            )
        self._servers.append(server)
        return log


def _said(log: Path, pattern: str) -> str:
    """Wait until a server has said something; return the first group of it."""
    deadline = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < deadline:
        if found := re.search(pattern, log.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(f"{log}: {log.read_text(encoding='utf-8')[-2000:]}")
