"""What went wrong in Spark, told from the user's side."""

from __future__ import annotations

import re

from pyflink_on_spark._compat.errors import JobExecutionError
from pyflink_on_spark._spark.level_function import FAILURE_BEGINS, FAILURE_ENDS

_FAILURE = re.compile(re.escape(FAILURE_BEGINS) + "(.*?)" + re.escape(FAILURE_ENDS), re.DOTALL)
_SPARK_TEXT_LIMIT = 2000


def job_error(job_name: str, error: BaseException) -> JobExecutionError:
    """Return the one error of a failed job: the user's traceback first, Spark's text last.

    Args:
        job_name: the job's name.
        error: what Spark raised.
    """
    text = str(error)
    found = _FAILURE.search(text)
    if found is None:
        return JobExecutionError(f"the job {job_name!r} failed in Spark:\n{text}")
    rest = _FAILURE.sub("(the failure above)", text).strip()
    if len(rest) > _SPARK_TEXT_LIMIT:
        rest = rest[:_SPARK_TEXT_LIMIT] + " ..."
    return JobExecutionError(f"{found.group(1)}\n\nSpark said:\n{rest}")
