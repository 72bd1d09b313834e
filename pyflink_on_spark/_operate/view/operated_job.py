"""A job of this process, as those who operate it see it."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any, Protocol

from pyflink_on_spark._job.submission.history import JobHistory
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._operate.view.job_tasks import JobTask, tasks_of
from pyflink_on_spark._runtime.task.progress import JobProgress, TaskProgress
from pyflink_on_spark.common import JobStatus

TASK_MANAGER = "driver"
"""The name of the only task manager that tools see: hosts come and go with a job's attempts."""


class OperableHandle(Protocol):
    """What an engine's handle of a job offers to operation."""

    def status(self) -> JobStatus:
        """Return where the job is in its life."""
        ...

    def accumulators(self) -> dict[str, Any]:
        """Return the accumulators by name."""
        ...

    def cancel(self) -> None:
        """End the job and wait until it has ended."""
        ...

    def interrupt(self) -> None:
        """End the job as if its process was killed, and wait until it has ended."""
        ...

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint; return its path."""
        ...

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Write a savepoint and end the job; return the savepoint's path."""
        ...


class OperatedJob:
    """A job with its handle.

    Args:
        job: the job.
        handle: the engine's.
    """

    def __init__(self, job: Job, handle: OperableHandle) -> None:
        self.job, self.handle = job, handle

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""
        return self.job.settings.job_id

    @property
    def history(self) -> JobHistory:
        """What has happened to the job."""
        return self.job.history

    @property
    def status(self) -> JobStatus:
        """Where the job is in its life."""
        return self.handle.status()

    @functools.cached_property
    def tasks(self) -> tuple[JobTask, ...]:
        """The chains of the job."""
        return tasks_of(self.job)

    @property
    def over(self) -> bool:
        """Whether the job has ended."""
        return self.status.is_globally_terminal_state()

    @property
    def started(self) -> int:
        """When the job was submitted, in ms since the epoch."""
        return self.history.times[JobStatus.CREATED]

    @property
    def ended(self) -> int | None:
        """When the job ended, in ms since the epoch; None while it runs."""
        return self.history.times.get(self.status) if self.over else None

    @property
    def duration(self) -> int:
        """How long the job runs or has run, in ms."""
        ended = self.ended
        return (round(time.time() * 1000) if ended is None else ended) - self.started

    @property
    def progress(self) -> JobProgress | None:
        """How far the job is; None before the first report, and for a job in BATCH mode."""
        progress: JobProgress | None = getattr(self.handle, "progress", None)
        return progress

    @property
    def parts(self) -> Sequence[TaskProgress]:
        """How far each chain of each subtask is."""
        parts: Sequence[TaskProgress] = getattr(self.handle, "parts", ())
        return parts
