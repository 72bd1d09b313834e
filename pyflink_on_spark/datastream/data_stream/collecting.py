"""Bringing a stream's elements to the driver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyflink_on_spark._connectors.builtin.driver_sinks import CollectSink
from pyflink_on_spark._graph.transformation import Aligned
from pyflink_on_spark.datastream.data_stream.closeable_iterator import CloseableIterator


def collect(stream: Any, job_name: str | None) -> CloseableIterator:
    """Run what leads to a stream without a key, and return its elements while the job runs."""
    environment = stream._flow.environment
    channel = "collect"
    beside = environment._forget()
    edges = tuple(
        replace(edge, collected=True, unfused=edge.united or edge.partitioner is not None)
        for edge in stream._flow.edges
    )
    collected = type(stream)(replace(stream._flow, edges=edges))
    collected._end(
        "Data stream collect sink", CollectSink(channel), aligned=Aligned.INPUT, single=True
    )
    elements = environment._collect(job_name, channel, beside)
    return CloseableIterator(elements, stream.get_type())
