"""The source that reads several sources one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.hybrid.reader import ChainReader, SourceShares, of_last_source
from pyflink_on_spark._runtime.contract.connector import (
    Source,
    SourceReader,
    SplitEnumerator,
    WatermarkRule,
)
from pyflink_on_spark._runtime.elements.watermark_rhythm import WatermarkRhythm

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class SourceChain(Source):
    """Reads several sources; a subtask starts the next one at the end of its share of the last.

    Args:
        sources: the sources. All but the last one are bounded.

    Raises:
        ValueError: the sources produce elements of different types.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        types = [s.produced_type for s in sources if s.produced_type is not None]
        for other in types[1:]:
            if other != types[0]:
                raise ValueError(
                    "the sources of a HybridSource must produce elements of one type, "
                    f"not {types[0]} and {other}"
                )
        self.produced_type = types[0] if types else None
        self.bounded = sources[-1].bounded
        self.timestamped = any(source.timestamped for source in sources)
        self.parallel = all(source.parallel for source in sources)
        self.conforms = all(source.conforms for source in sources)
        self.asked = sources[-1].asked  # the others are bounded

    def with_watermarks(self, rule: WatermarkRule) -> SourceChain:
        return SourceChain([source.with_watermarks(rule) for source in self._sources])

    def with_rhythm(self, rhythm: WatermarkRhythm) -> SourceChain:
        """Return the same, whose sources emit watermarks at the rhythm of the job."""
        return SourceChain([source.with_rhythm(rhythm) for source in self._sources])

    def with_configuration(self, configuration: Mapping[str, str]) -> SourceChain:
        return SourceChain([source.with_configuration(configuration) for source in self._sources])

    def followed_by(self, source: Source) -> SourceChain:
        """Return a chain with another source at the end."""
        return SourceChain([*self._sources, source])

    def splits(self, parallelism: int) -> list[SourceShares]:
        """Return one split for each subtask: its splits of all sources."""
        found = [source.splits(parallelism) for source in self._sources]
        return [
            SourceShares(tuple(tuple(splits[index::parallelism]) for splits in found))
            for index in range(parallelism)
        ]

    def enumerator(self, restored: Sequence[Any] | None) -> SplitEnumerator:
        """Return the enumerator of the last source."""
        last = None if restored is None else list(of_last_source(restored))
        return self._sources[-1].enumerator(last)

    def maintain(self, oldest_checkpoint: int | None) -> None:
        for source in self._sources:
            source.maintain(oldest_checkpoint)

    def begin_again(self) -> None:
        for source in self._sources:
            source.begin_again()

    def job_ended(self, resumable: bool) -> None:
        for source in self._sources:
            source.job_ended(resumable)

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        share = splits[0] if splits else SourceShares(((),) * len(self._sources))
        return ChainReader(self._sources, share, restored, context)
