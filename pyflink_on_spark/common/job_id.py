"""The identifier of a job."""

from __future__ import annotations

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["JobID"]


class JobID:
    """The id of a job.

    Args:
        j_job_id: 32 hexadecimal digits.
    """

    def __init__(self, j_job_id: object) -> None:
        self._text = own_handle(j_job_id, str, "JobID(j_job_id)")

    def __str__(self) -> str:
        return self._text


__getattr__ = missing_name(__name__)
