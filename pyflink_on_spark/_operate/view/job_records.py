"""Records of this user's jobs on disk: a small file for each job."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pyflink_on_spark.common import JobStatus

LOST = "LOST"
"""The state of a job whose driver has ended without a word, for example by SIGKILL."""
ELSEWHERE = 0
"""The process of a driver on another machine."""
_ID = re.compile(r"[0-9a-f]{32}")
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
        cause: of a job that has failed, the line of its error that names the exception.
        operations: the results of savepoints by their request, for who asks late.
        subtasks: how many the job has.
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
    subtasks: int = 0

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
        self._known: dict[str, tuple[tuple[int, int], JobRecord]] = {}

    def write(self, record: JobRecord) -> None:
        """Write a record, in place of the one before.

        Raises:
            OSError: it cannot be written.
        """
        self._write(f"{record.id}{_SUFFIX}", asdict(record))

    def archive(self, job_id: str, answers: Mapping[str, object]) -> None:
        """Keep what the driver tells of a job, for the time after the driver's end.

        Args:
            job_id: the job's.
            answers: those of the REST API by what follows ``/jobs/:id``; the log's end by ``/log``.

        Raises:
            OSError: it cannot be written.
        """
        self._write(f"{job_id}{_ARCHIVE}", answers)

    def archived(self, job_id: str) -> dict[str, object]:
        """The answers that were last kept of a job; empty if there are none."""
        try:
            answers: dict[str, object] = json.loads(
                (self._folder / f"{job_id}{_ARCHIVE}").read_text()
            )
        except (OSError, ValueError):
            return {}
        return answers

    def all(self) -> list[JobRecord]:
        """Return all records, the oldest first; of jobs whose driver is gone as ``LOST``."""
        return sorted(self._read(), key=lambda record: record.started)

    def get(self, job_id: str) -> JobRecord | None:
        """The record of a job; None if there is none.

        Args:
            job_id: 32 hexadecimal digits; anything else is no job.
        """
        if not _ID.fullmatch(job_id):
            return None
        return next(self._read_files([self._folder / f"{job_id}{_SUFFIX}"]), None)

    def of_process(self, pid: int) -> list[JobRecord]:
        """Return the records of one driver, the oldest first."""
        return [record for record in self.all() if record.pid == pid]

    def remove_old(self, kept: int, milliseconds: int) -> None:
        """Remove the records of jobs that ended long ago, and of all but the last that ended.

        Reading many records takes longer than a small job. So it waits until there are a tenth too
        many.

        Args:
            kept: how many jobs that have ended are kept.
            milliseconds: for how long.
        """
        times = self._times()
        oldest = time.time() * 1000 - milliseconds
        if len(times) <= kept + kept // 10 and min(times, default=oldest) >= oldest:
            return  # the usual case, in which no file is read
        ended = [record for record in self.all() if record.over]
        for number, record in enumerate(reversed(ended)):
            if number >= kept or (record.ended or record.started) < oldest:
                self.remove(record)

    def remove(self, record: JobRecord) -> None:
        """Remove the records of a job."""
        self._known.pop(f"{record.id}{_SUFFIX}", None)
        for suffix in (_SUFFIX, _ARCHIVE):
            with contextlib.suppress(OSError):
                (self._folder / f"{record.id}{suffix}").unlink()

    def _write(self, name: str, content: Mapping[str, object]) -> None:
        """Write a file as a whole, in place of the one before."""
        hidden = self._folder / f".{name}.{os.getpid()}.{threading.get_ident()}"
        hidden.write_text(json.dumps(content, indent=1), encoding="utf-8")
        hidden.replace(self._folder / name)

    def _times(self) -> list[float]:
        """Return when each record was written (ms since the epoch)."""
        times = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.endswith(_SUFFIX) and not entry.name.startswith("."):
                    with contextlib.suppress(OSError):
                        times.append(entry.stat().st_mtime * 1000)
        return times

    def _files(self) -> Iterator[Path]:
        return self._folder.glob(f"[!.]*{_SUFFIX}")

    def _read(self) -> Iterator[JobRecord]:
        return self._read_files(self._files())

    def _read_files(self, files: Iterable[Path]) -> Iterator[JobRecord]:
        for file in files:
            with contextlib.suppress(OSError, ValueError, TypeError):
                record = self._content(file)
                yield record if record.over or lives(record.pid) else self._lost(record)

    def _content(self, file: Path) -> JobRecord:
        """The record in a file, which is read once for each version of the file."""
        status = file.stat()
        version = (status.st_ino, status.st_mtime_ns)
        known = self._known.get(file.name)
        if known is None or known[0] != version:
            known = version, JobRecord(**json.loads(file.read_text(encoding="utf-8")))
            self._known[file.name] = known
        return known[1]

    def _lost(self, record: JobRecord) -> JobRecord:
        """Note that a driver is gone, and remove its socket."""
        why = f"the driver (process {record.pid}) has ended without a word"
        lost = replace(record, state=LOST, ended=round(time.time() * 1000), cause=why)
        with contextlib.suppress(OSError):
            self.write(lost)
            Path(record.socket).unlink()
        return lost


def lives(pid: int) -> bool:
    """Return whether a process of this user exists."""
    if pid == ELSEWHERE:
        return False
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
    return private_folder(home() / "jobs" / socket.gethostname())


def log_folder() -> Path:
    """Return the folder of the logs of detached jobs, made if need be.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    return private_folder(home() / "log")


def new_log(script: str, folder: str | None, pid: int) -> Path:
    """Return a path for the log of a driver.

    Args:
        script: the path of what it runs.
        folder: where logs are to be; None for the folder of this user.
        pid: a process that makes the name the only one.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    place = log_folder() if folder is None else Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    when = time.strftime("%Y%m%d-%H%M%S")
    return place.resolve() / f"{Path(script).stem}-{when}-{pid}.log"


def private_file(path: str, flags: int) -> int:
    """Open a file that only this user can read; an opener for ``open``."""
    return os.open(path, flags, 0o600)


def private_folder(folder: Path) -> Path:
    """Return a folder that only this user can enter, made if need be.

    Raises:
        OSError: the folder cannot be made, or is another user's.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another user; set {VARIABLE} to another folder")
    if status.st_mode & _OTHERS:
        folder.chmod(status.st_mode & ~_OTHERS)
    return folder
