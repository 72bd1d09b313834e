"""The jobs of this process that can be operated."""

from __future__ import annotations

import threading
from collections import OrderedDict

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._operate.view.operated_job import OperatedJob

_KEPT = 50


class UnknownJob(PyFlinkOnSparkError):
    """This process has no job with the id that was asked for."""


class OperatedJobs:
    """The jobs by id, the oldest first; of those that have ended the last ones."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, OperatedJob] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, job: OperatedJob) -> None:
        """Take in a job."""
        with self._lock:
            self._jobs[job.id] = job
            ended = [job_id for job_id, each in self._jobs.items() if each.over]
            for job_id in ended[:-_KEPT]:
                del self._jobs[job_id]

    def all(self) -> list[OperatedJob]:
        """Return all jobs."""
        with self._lock:
            return list(self._jobs.values())

    def get(self, job_id: str) -> OperatedJob:
        """Return a job.

        Raises:
            UnknownJob: there is no such job.
        """
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise UnknownJob(f"Job {job_id} not found")
        return job

    def running(self) -> list[OperatedJob]:
        """Return the jobs that have not ended."""
        return [job for job in self.all() if not job.over]
