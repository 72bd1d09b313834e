"""``run -d``: a driver in the background, with its log in a file."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from pyflink_on_spark._job.job import base_configuration
from pyflink_on_spark._operate.client import RemoteJob
from pyflink_on_spark._operate.server.job_registry import DRIVER
from pyflink_on_spark._operate.view.job_records import (
    JobRecord,
    JobRecords,
    jobs_folder,
    new_log,
    private_file,
)
from pyflink_on_spark._operate.view.jobs import INITIALIZING
from pyflink_on_spark._options.flink import LOG_DIRECTORY, LOG_FILES
from pyflink_on_spark._options.own import LOG_SIZE
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.tools.operate.run_options import IN_BACKGROUND, RunOptions, check_script

_ROTATION_SECONDS = 10.0
_CHUNK = 1024 * 1024


class RotatedLog:
    """A log file that several processes append to, and that does not grow without end.

    The driver, Spark's JVM and the hosts append to one file. So the file keeps its name and is
    cut, once its content is in an older part.

    Args:
        file: its path; older parts have a number after their name, the newest 1.
        longest: how many bytes it may have.
        parts: how many older parts are kept.
    """

    def __init__(self, file: Path, longest: int, parts: int) -> None:
        self._file, self._longest, self._parts = file, longest, parts

    def watch(self) -> None:
        """Look after the file from now on, in a thread."""
        threading.Thread(target=self._watch, name="log rotation", daemon=True).start()

    def rotate_if_long(self) -> bool:
        """Move the content to an older part if there is too much; return whether that was done."""
        if not self._file.exists() or self._file.stat().st_size <= self._longest:
            return False
        for number in range(self._parts - 1, 0, -1):
            older = self._part(number)
            if older.exists():
                older.replace(self._part(number + 1))
        with self._file.open("r+b") as content, self._part(1).open("wb") as part:
            os.fchmod(part.fileno(), 0o600)
            shutil.copyfileobj(content, part, _CHUNK)
            content.truncate(0)
        return True

    def _part(self, number: int) -> Path:
        return self._file.with_name(f"{self._file.name}.{number}")

    def _watch(self) -> None:
        done = threading.Event()
        while not done.wait(_ROTATION_SECONDS):
            try:
                self.rotate_if_long()
            except OSError:  # the next look may find a disk with room
                continue


_LOOK_SECONDS = 0.1
_SHOWN_LINES = 20
_BEGIN_SECONDS = 60.0
_BEGINNING = {JobStatus.CREATED.name, INITIALIZING}
_GOOD = {JobStatus.RUNNING.name, JobStatus.FINISHED.name}


def run_detached(options: RunOptions, arguments: list[str]) -> int:
    """Start a driver of its own, and return once its job runs or it has ended.

    Args:
        options: what ``arguments`` say.
        arguments: those of ``run``.
    """
    script = check_script(options)
    try:
        log = new_log(script, LOG_DIRECTORY.read(base_configuration()), os.getpid())
        records = JobRecords(jobs_folder())
        with open(log, "ab", opener=private_file) as output:
            driver = _start(arguments, log, output.fileno())
    except OSError as error:
        print(f"run -d: cannot write the log: {error}", file=sys.stderr)
        return 1
    try:
        job = _job_of(driver, records)
    except KeyboardInterrupt:
        driver.terminate()
        return 130
    if job is None:
        print(f"{script} has ended without a job that runs; its log is {log}:", file=sys.stderr)
        print(*log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:], sep="\n",
              file=sys.stderr)  # fmt: skip
        return driver.returncode
    state = _begun_state(RemoteJob(job, records), driver)
    print(f"Job has been submitted with JobID {job.id}")
    print(f"Its log is {log}")
    if state not in _GOOD:
        print(f"The job is {state}: `exceptions {job.id[:8]}` may say why", file=sys.stderr)
    return 0


def look_after_log(log: str) -> None:
    """In a detached driver, look after its log."""
    values = base_configuration()
    DRIVER.log = log
    RotatedLog(Path(log), LOG_SIZE.read(values), LOG_FILES.read(values)).watch()


def _start(arguments: list[str], log: Path, output: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-u",
            "-m",
            "pyflink_on_spark",
            "run",
            IN_BACKGROUND,
            str(log),
            *arguments,
        ],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


def _begun_state(job: RemoteJob, driver: subprocess.Popen[bytes]) -> str:
    """Wait for a while until a job has begun to run, or has failed to; return its state."""
    deadline = time.monotonic() + _BEGIN_SECONDS
    while (state := job.state()) in _BEGINNING and time.monotonic() < deadline:
        with contextlib.suppress(subprocess.TimeoutExpired):
            driver.wait(_LOOK_SECONDS)
            break
    return state


def _job_of(driver: subprocess.Popen[bytes], records: JobRecords) -> JobRecord | None:
    """Wait for the first job of a driver; return None if the driver ends without one."""
    while True:
        ended = driver.poll() is not None
        found = records.of_process(driver.pid)
        if found or ended:
            return found[0] if found else None
        with contextlib.suppress(subprocess.TimeoutExpired):
            driver.wait(_LOOK_SECONDS)
