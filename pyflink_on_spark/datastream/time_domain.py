"""The clock that a timer follows."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["TimeDomain"]


class TimeDomain(Enum):
    """The clock of a timer that fires: the watermark, or the machine's time."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1


__getattr__ = missing_name(__name__)
