"""What Spark's UI shows of a job."""

from __future__ import annotations

from pyflink_on_spark._job.submission.job import Job


def description_of(job: Job, attempt: int = 0) -> str:
    """Return the job's name, its operators, and the attempt if it is not the first one.

    Args:
        job: the job.
        attempt: how often the job was restarted.
    """
    operators = " | ".join(vertex.name for stage in job.stages for vertex in stage.vertices)
    restarted = f" (restart {attempt})" if attempt else ""
    return f"{job.name}: {operators}{restarted}"
