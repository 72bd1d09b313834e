"""Runs a script whose jobs are only looked at."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from pyflink_on_spark._compat.import_hook import install
from pyflink_on_spark._job.job import Job, install_engine, installed_engine
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.common.job_execution_result import JobOutcome
from pyflink_on_spark.tools.script_errors import tell_error

_NO_SAVEPOINT = "no-savepoint"


class RecordingEngine:
    """Takes jobs and runs none.

    Attributes:
        jobs: what was submitted.
        runs_nothing: tells the translation that no source is read.
    """

    runs_nothing = True

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, job: Job) -> RecordedJob:
        """Keep a job."""
        self.jobs.append(job)
        return RecordedJob(job)


class RecordedJob:
    """The handle of a job that is said to have ended well, with no output."""

    def __init__(self, job: Job) -> None:
        self.job_id = job.settings.job_id

    def result(self) -> JobOutcome:
        """Return a result without accumulators."""
        return JobOutcome(self.job_id, 0, {})

    def collected(self) -> Generator[object, None, None]:
        """Yield nothing: no element was computed."""
        yield from ()

    def status(self) -> JobStatus:
        """Return FINISHED."""
        return JobStatus.FINISHED

    def accumulators(self) -> dict[str, object]:
        """Return none."""
        return {}

    def cancel(self) -> None:
        """Do nothing: nothing runs."""

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Return the folder: nothing is written."""
        return savepoint_directory or _NO_SAVEPOINT

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Return the folder: nothing is written."""
        return savepoint_directory or _NO_SAVEPOINT


@contextmanager
def recording() -> Iterator[RecordingEngine]:
    """Let jobs be recorded, not run, for a while."""
    before, engine = installed_engine(), RecordingEngine()
    install_engine(engine)
    try:
        yield engine
    finally:
        install_engine(before)


def recorded_jobs(command: str, script: Path, arguments: list[str]) -> list[Job]:
    """Return the jobs that a script would run, and say so on standard error if there is none.

    What the script prints goes to standard error.

    Args:
        command: the name of the tool, for the message.
        script: the script's file.
        arguments: its own arguments.
    """
    with redirect_stdout(sys.stderr):
        jobs = record(script, arguments)
    if not jobs:
        print(f"{command}: {script} ran to its end without executing a job", file=sys.stderr)
    return jobs


def record(
    script: Path, arguments: list[str], files: Sequence[str] = (), *, module: bool = False
) -> list[Job]:
    """Return the jobs that a script would run.

    A script that fails after its first job, for example since the job gave it no element, is over
    then; standard error says so.

    Args:
        script: the script's file; it is run as Python's main program.
        arguments: its own arguments.
        files: the entries of ``sys.path`` that it may import from.
        module: whether ``script`` is the name of a module.

    Raises:
        SystemExit: the script fails before its first job; standard error says why.
    """
    install()
    before = sys.argv, sys.path.copy()
    sys.argv = [str(script), *arguments]
    sys.path[0] = "" if module else str(script.resolve().parent)
    sys.path[1:1] = files
    try:
        with recording() as engine:
            try:
                if module:
                    runpy.run_module(str(script), run_name="__main__", alter_sys=True)
                else:
                    runpy.run_path(str(script), run_name="__main__")
            except SystemExit as ended:
                if ended.code not in {None, 0} and not engine.jobs:
                    raise
            except Exception as error:  # noqa: BLE001 - told as Python tells it
                if not engine.jobs:
                    tell_error(error, str(script))
                    raise SystemExit(1) from None
                _tell_of_failure(script, error)
        return engine.jobs
    finally:
        sys.argv, sys.path[:] = before


def _tell_of_failure(script: Path, error: Exception) -> None:
    lines = [
        f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(script)
    ]
    place = f" in line {lines[-1]}" if lines else ""
    print(
        f"plan: the script ended{place} with {type(error).__name__}: {error}. Nothing is run here, "
        "so no job has results; jobs after that line are missing.",
        file=sys.stderr,
    )
