"""What went wrong in Spark, told from the user's side."""

from __future__ import annotations

import re

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark._spark.jobs.stage_function import FAILURE_BEGINS, FAILURE_ENDS
from pyflink_on_spark._spark.transport.rpc import HostLost

_FAILURE = re.compile(re.escape(FAILURE_BEGINS) + "(.*?)" + re.escape(FAILURE_ENDS), re.DOTALL)
_LOST_WORKER = re.compile(r"Python worker (?:exited unexpectedly|process .*?terminated)")
_STAGE_FAILURE = re.compile(r"Job aborted due to stage failure: .*?(?=: org\.apache|: java\.|\n|$)")
_FULL_TEXT_LIMIT, _SHORT_TEXT_LIMIT = 2000, 300
_LOST = (
    "a Python worker process ended unexpectedly: it was killed, ran out of memory, or crashed in "
    "native code"
)


def job_error(job_name: str, error: BaseException) -> JobExecutionError:
    """Return the one error of a failed job: the user's traceback first, Spark's text last.

    Args:
        job_name: the job's name.
        error: what Spark raised; kept as ``spark_error``.
    """
    if isinstance(error, JobExecutionError):
        return error
    if isinstance(error, SubtaskFailure):
        return JobExecutionError(str(error))
    if isinstance(error, HostLost):
        return JobExecutionError(f"the job {job_name!r} failed: {_LOST} ({error})")
    told = JobExecutionError(_text(job_name, str(error) or repr(error)))
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


def _text(job_name: str, text: str) -> str:
    found = _FAILURE.search(text)
    if found is not None:
        return f"{found[1]}\n\nSpark said: {_in_short(text)}"
    if _LOST_WORKER.search(text):
        return f"the job {job_name!r} failed: {_LOST}\n\nSpark said: {_in_short(text)}"
    return f"the job {job_name!r} failed in Spark: {_bounded(text, _FULL_TEXT_LIMIT)}"


def _in_short(text: str) -> str:
    said = _STAGE_FAILURE.search(text)
    first_line = text.strip().partition("\n")[0].rstrip(":")
    return _bounded(said[0] if said else first_line, _SHORT_TEXT_LIMIT)


def _bounded(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + " ..."
