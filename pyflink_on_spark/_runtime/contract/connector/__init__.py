"""The contract of sources and sinks with the runtime.

``source`` describes what a source and its readers implement, ``sink`` what a sink and its writers
implement. Both modules say which method runs where (in the driver or in a worker), in which order,
and what may happen twice. ``large_committable`` is for writers that return much content.
"""

from __future__ import annotations

from pyflink_on_spark._runtime.contract.connector.enumerator import (
    AskingReader,
    SplitEnumerator,
    UnreadSplit,
)
from pyflink_on_spark._runtime.contract.connector.sink import LargeCommittable, Sink, SinkWriter
from pyflink_on_spark._runtime.contract.connector.source import (
    FlinkSplits,
    OwnPositions,
    Source,
    SourceReader,
    SplitReader,
    Versioned,
    WatermarkRule,
    share_of,
)

__all__ = [
    "AskingReader",
    "FlinkSplits",
    "LargeCommittable",
    "OwnPositions",
    "Sink",
    "SinkWriter",
    "Source",
    "SourceReader",
    "SplitEnumerator",
    "SplitReader",
    "UnreadSplit",
    "Versioned",
    "WatermarkRule",
    "share_of",
]
