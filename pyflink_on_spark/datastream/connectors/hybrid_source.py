"""The source that reads several sources one after the other."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.hybrid import SourceChain
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import Source

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSource(Source):
    """Reads several sources, one after the other; made with ``builder(...)``.

    Args:
        j_hybrid_source: made by the builder.

    Example::

        source = HybridSource.builder(files).add_source(topic).build()
        records = env.from_source(source, WatermarkStrategy.no_watermarks(), "files, then topic")

    On Spark: a subtask starts the next source when its own share of the previous one has ended;
    Flink waits for all subtasks. The positions at which all sources begin are determined when the
    job starts.
    """

    def __init__(self, j_hybrid_source: object):
        call = "HybridSource(j_hybrid_source)"
        super().__init__(own_handle(j_hybrid_source, SourceChain, call))

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Return a builder with the first source."""
        first = argument(first_source, Source, "HybridSource.builder(first_source)")
        return HybridSourceBuilder(SourceChain([first._source]))


class HybridSourceBuilder:
    """Configures the sources to read one after the other.

    Args:
        j_hybrid_source_builder: the sources to begin with.
    """

    def __init__(self, j_hybrid_source_builder: Any):
        call = "HybridSourceBuilder(j_hybrid_source_builder)"
        self._chain = own_handle(j_hybrid_source_builder, SourceChain, call)

    def add_source(self, source: Source) -> HybridSourceBuilder:
        """Add a source, which is read at the end of all others.

        Raises:
            ValueError: the last source is unbounded, or the sources produce different types.
        """
        added = argument(source, Source, "add_source(source)")
        require(
            self._chain.bounded,
            "All sources except the final source need to be bounded.",
        )
        self._chain = self._chain.followed_by(added._source)
        return self

    def build(self) -> HybridSource:
        """Return the source."""
        return HybridSource(self._chain)


__getattr__ = missing_name(__name__)
