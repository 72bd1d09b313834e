"""Watching the progress of a streaming job."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress
from pyflink_on_spark.common import JobClient
from pyflink_on_spark.datastream import StreamExecutionEnvironment

__all__ = ["JobProgress", "TaskProgress", "job_progress", "on_progress"]


def job_progress(client: JobClient) -> JobProgress | None:
    """Return how far a job is: rate, backlog, watermark and state of each task.

    Args:
        client: of ``execute_async``.

    Returns:
        None before the first report of the job's tasks, and for a job with BATCH semantics.
    """
    progress: JobProgress | None = getattr(client._handle, "progress", None)
    return progress


def on_progress(env: StreamExecutionEnvironment, listener: Callable[[JobProgress], None]) -> None:
    """Call a function of the program with each report on the environment's streaming jobs.

    On Spark: a job's tasks report about twice a second, and when they have ended.

    Args:
        env: the environment; jobs that are executed from now on are watched.
        listener: called in a thread of its job. What it raises is logged.
    """
    env._progress_listeners.append(listener)
