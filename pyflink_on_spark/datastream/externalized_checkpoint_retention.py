"""The retention of checkpoints after their job is cancelled."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["ExternalizedCheckpointRetention"]


class ExternalizedCheckpointRetention(Enum):
    """The retention of checkpoints after the cancellation of their job."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


__getattr__ = missing_name(__name__)
