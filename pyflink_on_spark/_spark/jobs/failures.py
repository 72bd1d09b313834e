"""Failures of Spark, as errors that a user can understand."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyflink_on_spark._cluster.transport.rpc import HostLost
from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._runtime.diagnosis.failure import SubtaskFailure
from pyflink_on_spark._spark.jobs.stage_function import FAILURE_BEGINS, FAILURE_ENDS
from pyflink_on_spark._spark.session.java_text import gist

_FAILURE = re.compile(re.escape(FAILURE_BEGINS) + "(.*?)" + re.escape(FAILURE_ENDS), re.DOTALL)
_LOST_WORKER = re.compile(r"Python worker (?:exited unexpectedly|process .*?terminated)")
_LOST = (
    "a Python worker process ended unexpectedly: it was killed, ran out of memory, or crashed in "
    "native code"
)


def job_error(job_name: str, error: BaseException, tasks: Iterable[str] = ()) -> JobExecutionError:
    """Return the one error of a failed job: what a user did wrong, or the gist of what Spark said.

    Args:
        job_name: the job's name.
        error: what Spark raised; kept as ``spark_error``.
        tasks: the names of the job's tasks.
    """
    if isinstance(error, JobExecutionError):
        return error
    if isinstance(error, SubtaskFailure):
        return JobExecutionError(str(error))
    if isinstance(error, HostLost):
        return JobExecutionError(f"the job {job_name!r} failed: {_LOST}{_ran(tasks)} ({error})")
    told = JobExecutionError(_text(job_name, str(error) or repr(error), tasks))
    told.spark_error = error
    return told


def print_error(job_name: str, error: BaseException) -> JobExecutionError:
    """Return the error of a job whose lines could not be printed.

    Args:
        job_name: the job's name.
        error: what the driver's standard output raised.
    """
    return JobExecutionError(
        f"the job {job_name!r} failed: print() could not write to the program's standard output: "
        f"{type(error).__name__}: {error}"
    )


def _text(job_name: str, text: str, tasks: Iterable[str]) -> str:
    found = _FAILURE.search(text)
    if found is not None:
        return found[1]
    if _LOST_WORKER.search(text):
        return f"the job {job_name!r} failed: {_LOST}{_ran(tasks)}"
    return f"the job {job_name!r} failed in Spark: {gist(text)}"


def _ran(tasks: Iterable[str]) -> str:
    return "; it ran " + " or ".join(map(repr, tasks)) if tasks else ""
