"""A job without an engine: its handle does what the test says."""

from __future__ import annotations

import threading
from dataclasses import replace

from pyflink_on_spark._job.job import Job
from pyflink_on_spark.common import JobStatus
from tests.runtime.rounds import CutSource, job_of


class Handle:
    """Keeps a job's status; savepoints are paths, or the error that the test sets."""

    def __init__(self, job: Job) -> None:
        self.job, self.asked = job, []
        self.error: Exception | None = None
        self.ended = threading.Event()
        self._status = JobStatus.CREATED
        self.enter(JobStatus.RUNNING)

    def enter(self, status, error=None):
        self._status = status
        self.job.history.enter(status, error)
        if status.is_globally_terminal_state():
            self.ended.set()

    def status(self):
        return self._status

    def accumulators(self):
        return {"seen": 3}

    def cancel(self):
        self.asked.append("cancel")
        self.enter(JobStatus.CANCELED)

    interrupt = cancel

    def trigger_savepoint(self, savepoint_directory):
        self.asked.append(("savepoint", savepoint_directory))
        if self.error is not None:
            raise self.error
        return f"{savepoint_directory}/savepoint-1"

    def stop_with_savepoint(self, advance_to_end_of_event_time, savepoint_directory):
        self.asked.append(("stop", savepoint_directory, advance_to_end_of_event_time))
        self.enter(JobStatus.FINISHED)
        return f"{savepoint_directory}/savepoint-2"


def job(name="counter", configuration=None):
    """Return a job that was translated, but not started."""
    source = CutSource([1])
    made = job_of(lambda stream: stream.map(str), source, configuration=configuration)
    return replace(made, name=name, collected=None)
