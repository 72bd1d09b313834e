"""Streams and their operations."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.data_stream.connected_streams import (
    BroadcastConnectedStream,
    BroadcastStream,
    ConnectedStreams,
)
from pyflink_on_spark.datastream.data_stream.data_stream import (
    CachedDataStream,
    CloseableIterator,
    DataStream,
    DataStreamSink,
)
from pyflink_on_spark.datastream.data_stream.keyed_stream import KeyedStream
from pyflink_on_spark.datastream.data_stream.windowed_stream import (
    WINDOW_STATE_NAME as WINDOW_STATE_NAME,
)
from pyflink_on_spark.datastream.data_stream.windowed_stream import (
    AllWindowedStream,
    WindowedStream,
)

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]

__getattr__ = missing_name(__name__)
