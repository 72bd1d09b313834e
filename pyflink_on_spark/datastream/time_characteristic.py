"""Which time a program of Flink 1.x works with."""

from __future__ import annotations

from enum import Enum

__all__ = ["TimeCharacteristic"]


class TimeCharacteristic(Enum):
    """Flink 1.x's choice of time for a whole program; later releases let each operator say."""

    ProcessingTime = 0
    IngestionTime = 1
    EventTime = 2
