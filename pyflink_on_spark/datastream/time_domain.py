"""Which clock a timer follows."""

from __future__ import annotations

from enum import Enum

__all__ = ["TimeDomain"]


class TimeDomain(Enum):
    """The clock of a timer that fires: the watermark, or the machine's time."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1
