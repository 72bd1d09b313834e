"""``run -d``: a driver in the background, with its log in a file."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from pyflink_on_spark._job.submission.base_configuration import base_configuration
from pyflink_on_spark._operate.server.driver import DRIVER
from pyflink_on_spark._operate.view.home import jobs_folder, log_folder
from pyflink_on_spark._operate.view.job_records import JobRecord, JobRecords
from pyflink_on_spark._options.operation import LOG_DIRECTORY, LOG_FILES
from pyflink_on_spark._options.own import LOG_SIZE
from pyflink_on_spark.tools.operate.log_rotation import RotatedLog
from pyflink_on_spark.tools.operate.run import check_script
from pyflink_on_spark.tools.operate.run_options import IN_BACKGROUND, RunOptions

_LOOK_SECONDS = 0.1
_SHOWN_LINES = 20


def run_detached(options: RunOptions, arguments: list[str]) -> int:
    """Start a driver of its own, and return once its job runs or it has ended.

    Args:
        options: what ``arguments`` say.
        arguments: those of ``run``.
    """
    script = check_script(options)
    try:
        log = _log_file(script)
        records = JobRecords(jobs_folder())
        with open(log, "ab", opener=_private) as output:
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
    print(f"Job has been submitted with JobID {job.id}")
    print(f"Its log is {log}")
    return 0


def look_after_log(log: str) -> None:
    """In a detached driver, look after its log."""
    values = base_configuration()
    DRIVER.log = log
    RotatedLog(Path(log), LOG_SIZE.read(values), LOG_FILES.read(values)).watch()


def _log_file(script: str) -> Path:
    directory = LOG_DIRECTORY.read(base_configuration())
    folder = log_folder() if directory is None else Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    when = time.strftime("%Y%m%d-%H%M%S")
    return folder.resolve() / f"{Path(script).stem}-{when}-{os.getpid()}.log"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


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


def _job_of(driver: subprocess.Popen[bytes], records: JobRecords) -> JobRecord | None:
    """Wait for the first job of a driver; return None if the driver ends without one."""
    while True:
        ended = driver.poll() is not None
        found = records.of_process(driver.pid)
        if found or ended:
            return found[0] if found else None
        with contextlib.suppress(subprocess.TimeoutExpired):
            driver.wait(_LOOK_SECONDS)
