"""The notion of time in programs of Flink 1.x."""

from __future__ import annotations

from enum import Enum

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["TimeCharacteristic"]


class TimeCharacteristic(Enum):
    """Flink 1.x's choice of time for a whole program; later releases let each operator say."""

    ProcessingTime = 0
    IngestionTime = 1
    EventTime = 2


__getattr__ = missing_name(__name__)
