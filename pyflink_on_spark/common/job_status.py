"""The states of a job."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """The status of a job."""

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """True for a job that is over for good: failed, cancelled or finished."""
        return self in {JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED}

    def is_terminal_state(self) -> bool:
        """True for a job that is over or suspended."""
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()


__getattr__ = missing_name(__name__)
