"""An engine that runs a job's subtasks one after the other, in this process.

Everything that would cross a process on Spark goes through pickle here, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._compat.errors import JobCancelledError, JobExecutionError
from pyflink_on_spark._graph.job import Job, install_engine
from pyflink_on_spark._runtime.context import Clock, SystemClock
from pyflink_on_spark._runtime.exchange import Row
from pyflink_on_spark._runtime.failure import SubtaskFailure
from pyflink_on_spark._runtime.isolation import unseal
from pyflink_on_spark._runtime.level import DRIVER, LevelRunner
from pyflink_on_spark.common import JobExecutionResult, JobStatus
from pyflink_on_spark.common.job_execution_result import JobOutcome


class LocalEngine:
    """Runs jobs in this process.

    Args:
        clock: processing time.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def submit(self, job: Job) -> LocalJob:
        """Run a job to its end; a failure shows when its result is asked for."""
        handle = LocalJob(job)
        handle.run(self._clock)
        return handle


class LocalJob:
    """A job that has run."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.job_id = job.settings.job_id
        self._collected: list[Any] = []
        self._error: Exception | None = None
        self._status = JobStatus.CREATED
        self._runtime = 0

    def run(self, clock: Clock) -> None:
        """Run all levels, then commit."""
        started = time.monotonic()
        self._status = JobStatus.RUNNING
        try:
            self._run_levels(clock)
            self._status = JobStatus.FINISHED
        except SubtaskFailure as error:
            self._status = JobStatus.FAILED
            self._error = JobExecutionError(str(error))
        except Exception as error:
            self._status = JobStatus.FAILED
            self._error = error
        self._runtime = int((time.monotonic() - started) * 1000)

    def status(self) -> JobStatus:
        """Return how far the job has come."""
        return self._status

    def accumulators(self) -> dict[str, Any]:
        """Return the accumulators."""
        return {}

    def result(self) -> JobExecutionResult:
        """Return the result, or raise what the job failed with."""
        if self._error is not None:
            raise self._error
        if self._status is JobStatus.CANCELED:
            raise JobCancelledError("Job was cancelled.")
        return JobExecutionResult(JobOutcome(self.job_id, self._runtime, self.accumulators()))

    def collected(self) -> Iterator[Any]:
        """Yield what the job collected."""
        yield from self._collected
        self.result()

    def cancel(self) -> None:
        """Do nothing: the job is over."""

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Raise: the job is over."""
        raise RuntimeError("the job is over: there is no state to save")

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Raise: the job is over."""
        raise RuntimeError("the job is over: there is no state to save")

    def _run_levels(self, clock: Clock) -> None:
        rows: list[Row] = []
        for number, level in enumerate(self._job.levels):
            runner = LevelRunner(level, number, self._job.settings, clock, lambda _: self._driver)
            rows.sort(key=lambda row: (row.target, row.seq, row.channel))
            if number == 0:
                rows = list(runner.start_rows())
            rows = list(runner.run(iter(rows)))
        self._commit(rows)

    def _commit(self, rows: list[Row]) -> None:
        done: dict[int, list[Any]] = {}
        for row in rows:
            if row.target == DRIVER:
                for sink_id, committable in unseal(row.payload):
                    done.setdefault(sink_id, []).append(committable)
        for sink_id, sink in self._job.sinks.items():
            sink.commit(done.get(sink_id, []))

    def _driver(self, channel: str) -> Callable[[list[Any]], None]:
        if channel == self._job.collected:
            return lambda things: self._collected.extend(map(unseal, things))
        return self._job.printers[channel]


def install_local_engine(clock: Clock | None = None) -> LocalEngine:
    """Make ``execute`` run jobs in this process from now on.

    Args:
        clock: processing time; the machine's if not given.
    """
    engine = LocalEngine(clock)
    install_engine(engine)
    return engine
