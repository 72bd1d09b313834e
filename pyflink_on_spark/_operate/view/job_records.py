"""Records of this user's jobs on disk: a small file for each job."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pyflink_on_spark.common import JobStatus

LOST = "LOST"
"""The state of a job whose driver has ended without a word, for example by SIGKILL."""
_KEPT = 50
_SUFFIX = ".json"
_ARCHIVE = ".archive"


@dataclass(frozen=True)
class JobRecord:
    """The record with which anybody finds a job's driver; times in ms since the epoch.

    Args:
        id: 32 hexadecimal digits.
        name: the job's name.
        pid: the driver's process.
        socket: where the driver listens.
        started: when the job began.
        state: a ``JobStatus`` name; while the job runs, only the driver knows better.
        ended: when it ended.
        log: the log file of a detached job.
        cause: of a job that has failed, the last line of its error.
        operations: the results of savepoints by their request, for who asks late.
    """

    id: str
    name: str
    pid: int
    socket: str
    started: int
    state: str = "RUNNING"
    ended: int | None = None
    log: str | None = None
    cause: str | None = None
    operations: dict[str, Any] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """True once the job has ended."""
        return self.state == LOST or JobStatus[self.state].is_globally_terminal_state()


class JobRecords:
    """The records in a folder.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, record: JobRecord) -> None:
        """Write a record, in place of the one before.

        Raises:
            OSError: it cannot be written.
        """
        self._write(f"{record.id}{_SUFFIX}", asdict(record))

    def archive(self, job_id: str, answers: Mapping[str, Any]) -> None:
        """Keep what the driver tells of a job, for the time after the driver's end.

        Args:
            job_id: the job's.
            answers: those of the REST API by what follows ``/jobs/:id``; the log's end by ``/log``.

        Raises:
            OSError: it cannot be written.
        """
        self._write(f"{job_id}{_ARCHIVE}", answers)

    def archived(self, job_id: str) -> dict[str, Any]:
        """The answers that were last kept of a job; empty if there are none."""
        try:
            answers: dict[str, Any] = json.loads((self._folder / f"{job_id}{_ARCHIVE}").read_text())
        except (OSError, ValueError):
            return {}
        return answers

    def all(self) -> list[JobRecord]:
        """Return all records, the oldest first; of jobs whose driver is gone as ``LOST``."""
        return sorted(self._read(), key=lambda record: record.started)

    def of_process(self, pid: int) -> list[JobRecord]:
        """Return the records of one driver, the oldest first."""
        return [record for record in self.all() if record.pid == pid]

    def remove_old(self) -> None:
        """Remove the records of all but the last jobs that have ended."""
        ended = [record for record in self.all() if record.over]
        for record in ended[:-_KEPT]:
            self.remove(record)

    def remove(self, record: JobRecord) -> None:
        """Remove the records of a job."""
        for suffix in (_SUFFIX, _ARCHIVE):
            with contextlib.suppress(OSError):
                (self._folder / f"{record.id}{suffix}").unlink()

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a file as a whole, in place of the one before."""
        hidden = self._folder / f".{name}.{os.getpid()}.{threading.get_ident()}"
        hidden.write_text(json.dumps(content, indent=1), encoding="utf-8")
        hidden.replace(self._folder / name)

    def _read(self) -> Iterator[JobRecord]:
        for file in self._folder.glob(f"[!.]*{_SUFFIX}"):
            with contextlib.suppress(OSError, ValueError, TypeError):
                record = JobRecord(**json.loads(file.read_text(encoding="utf-8")))
                yield record if record.over or lives(record.pid) else self._lost(record)

    def _lost(self, record: JobRecord) -> JobRecord:
        """Note that a driver is gone, and remove its socket."""
        lost = replace(record, state=LOST, ended=round(time.time() * 1000))
        with contextlib.suppress(OSError):
            self.write(lost)
            Path(record.socket).unlink()
        return lost


def lives(pid: int) -> bool:
    """Return whether a process of this user exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # the number is another user's process by now
    return True


VARIABLE = "PYFLINK_ON_SPARK_HOME"
"""The environment variable that names another folder than ``~/.pyflink-on-spark``."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def home() -> Path:
    """Return the folder of this user."""
    return Path(os.environ.get(VARIABLE) or Path.home() / ".pyflink-on-spark")


def jobs_folder() -> Path:
    """Return the folder of the jobs of this user on this machine, made if need be.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    return _private(home() / "jobs" / socket.gethostname())


def log_folder() -> Path:
    """Return the folder of the logs of detached jobs, made if need be.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    return _private(home() / "log")


def _private(folder: Path) -> Path:
    """Make a folder that only this user can enter."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another user; set {VARIABLE} to another folder")
    if status.st_mode & _OTHERS:
        folder.chmod(status.st_mode & ~_OTHERS)
    return folder
