"""The end of a branch."""

from __future__ import annotations

from pyflink_on_spark._graph.stream_graph import Transformation
from pyflink_on_spark.datastream.data_stream.operator_settings import OperatorSettings


class DataStreamSink(OperatorSettings):
    """A sink that was added to a stream. Its setters change the sink and return it."""

    def __init__(self, j_data_stream_sink):
        self._j_data_stream_sink: Transformation = j_data_stream_sink

    @property
    def _transformation(self) -> Transformation:
        return self._j_data_stream_sink
