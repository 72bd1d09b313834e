"""Several sources, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.hybrid.source import SourceChain as RuntimeChain
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.connectors.base import Source

__all__ = ["HybridSource", "HybridSourceBuilder"]


@dataclass(frozen=True)
class SourceChain:
    """Sources that are read one after the other.

    Attributes:
        sources: the sources, of which only the last one need not end.
    """

    sources: tuple[Source, ...]


class HybridSource(Source):
    """Reads several sources, each when the one before it has ended; made with ``builder(...)``.

    Args:
        j_hybrid_source: the sources.

    On Spark: each subtask begins with the next source when its own share of the one before has
    ended, where Flink waits for all subtasks. Where a source begins is settled when the job
    starts.
    """

    def __init__(self, j_hybrid_source: Any):
        call = "HybridSource(j_hybrid_source)"
        self._chain = own_handle(j_hybrid_source, SourceChain, call)
        super().__init__(RuntimeChain([source._source for source in self._chain.sources]))

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Begin with the source that is read first."""
        first = argument(first_source, Source, "HybridSource.builder(first_source)")
        return HybridSourceBuilder(SourceChain((first,)))


class HybridSourceBuilder:
    """Says which sources are read one after the other.

    Args:
        j_hybrid_source_builder: the sources to begin with.
    """

    def __init__(self, j_hybrid_source_builder: Any):
        call = "HybridSourceBuilder(j_hybrid_source_builder)"
        self._chain = own_handle(j_hybrid_source_builder, SourceChain, call)

    def add_source(self, source: Source) -> HybridSourceBuilder:
        """Add a source that is read when all others have ended.

        Raises:
            ValueError: the last of these never ends.
        """
        added = argument(source, Source, "add_source(source)")
        require(
            self._chain.sources[-1]._source.bounded,
            "All sources except the final source need to be bounded.",
        )
        self._chain = replace(self._chain, sources=(*self._chain.sources, added))
        return self

    def build(self) -> HybridSource:
        """Return the source."""
        return HybridSource(self._chain)


__getattr__ = missing_name(__name__)
