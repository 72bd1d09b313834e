"""The source that reads several sources one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.connector import (
    OwnPositions,
    Source,
    SourceReader,
    SplitEnumerator,
    WatermarkRule,
)
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


@dataclass(frozen=True)
class SourceShares:
    """The splits of one subtask, by source."""

    splits: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class SourceProgress:
    """The progress of one subtask in one source.

    Args:
        begun: whether the subtask has started the source.
        items: the snapshot of the source's reader, or the splits that it will get.
    """

    begun: bool
    items: tuple[object, ...]


def of_last_source(restored: Iterable[Any]) -> Iterator[object]:
    """Yield the positions of the last source: those of its enumerator and of its readers."""
    for item in restored:
        if _is_progress(item):
            yield from item[-1].items
        else:
            yield item


def _is_progress(item: object) -> bool:
    return isinstance(item, tuple) and bool(item) and isinstance(item[0], SourceProgress)


class ChainReader(SourceReader):
    """Reads the sources of one subtask.

    The snapshot has one entry: a ``SourceProgress`` for each source.

    Args:
        sources: the sources.
        share: the splits of the subtask.
        restored: the snapshot entries of all subtasks, and of the last source's enumerator; or
            None.
        context: the context of the subtask.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        share: SourceShares,
        restored: Sequence[tuple[SourceProgress, ...]] | None,
        context: OperatorContext,
    ) -> None:
        self._sources, self._share, self._context = sources, share, context
        self._restored: Sequence[tuple[SourceProgress, ...]] | None = restored
        self._enumerated: list[object] = []
        if restored is not None and not all(map(_is_progress, restored)):
            self._enumerated = [item for item in restored if not _is_progress(item)]
            self._restored = [item for item in restored if _is_progress(item)]
        self._done: list[SourceProgress] = []
        self.limit = BUNDLE_SIZE
        self._timestamped = any(source.timestamped for source in sources)
        self._idle = False
        self._stopped = False
        self._reader = self._begin(0)

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """True once the last source, or the source at which ``stop`` was called, has ended."""
        return (self._is_last or self._stopped) and self._reader.ended

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        """Return the next event of the current source, and start the next source at its end."""
        self._reader.limit = self.limit
        event = self._reader.poll()
        if event is None and self._reader.ended and not self.ended:
            self._done.append(SourceProgress(True, tuple(self._reader.snapshot())))
            self._reader.close()
            self._reader = self._begin(len(self._done))
            if self._idle:  # the ended source was; the next one is not yet
                event = ChannelStatus(idle=False)
        if isinstance(event, ChannelStatus):
            self._idle = event.idle
        if isinstance(event, Bundle) and self._timestamped and event.timestamps is None:
            event = Bundle(event.values, [None] * len(event.values))
        return event

    def splits_wanted(self) -> int:
        return self._reader.splits_wanted()

    def add_splits(self, splits: Sequence[object], *, at_once: bool) -> None:
        self._reader.add_splits(splits, at_once=at_once)

    def stop(self) -> bool:
        """Stop the current source, and start no other."""
        self._stopped = True
        return self._reader.stop()

    def backlog(self) -> int | None:
        return self._reader.backlog()

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        self._reader.prepare_checkpoint(checkpoint_id)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._reader.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        self._reader.notify_checkpoint_aborted(checkpoint_id)

    def snapshot(self) -> list[tuple[SourceProgress, ...]]:
        later = range(len(self._done) + 1, len(self._sources))
        now = SourceProgress(True, tuple(self._reader.snapshot()))
        return [(*self._done, now, *(self._progress_of_later(index) for index in later))]

    def close(self) -> None:
        self._reader.close()

    @property
    def _is_last(self) -> bool:
        return len(self._done) == len(self._sources) - 1

    def _begin(self, index: int) -> SourceReader:
        positions = None
        if self._restored is not None:
            known = [progress[index] for progress in self._restored]
            if self._begun(index, known):
                positions = self._positions(index, known)
            else:
                return self._begin_untouched(index, known)
        return self._sources[index].reader(self._share.splits[index], positions, self._context)

    def _begin_untouched(self, index: int, known: Sequence[SourceProgress]) -> SourceReader:
        """Start a source that no subtask had started at the time of the checkpoint."""
        positions = None
        mine = self._share.splits[index]
        task = self._context.task
        if isinstance(self._restored, OwnPositions):
            mine = known[0].items
        elif len(known) == task.parallelism:
            mine = known[task.subtask_index].items
        else:
            positions = self._positions(index, known)
        return self._sources[index].reader(mine, positions, self._context)

    def _begun(self, index: int, known: Iterable[SourceProgress]) -> bool:
        """True if there are positions in a source."""
        if index == len(self._sources) - 1 and self._enumerated:
            return True
        return any(progress.begun for progress in known)

    def _positions(self, index: int, known: Iterable[SourceProgress]) -> Sequence[object]:
        """Return the positions of all subtasks in a source, which some may not have started."""
        kind = OwnPositions if isinstance(self._restored, OwnPositions) else list
        return kind(self._each_position(index, known))

    def _each_position(self, index: int, known: Iterable[SourceProgress]) -> Iterator[object]:
        if index == len(self._sources) - 1:
            yield from self._enumerated
        for progress in known:
            if progress.begun:
                yield from progress.items
            else:
                untouched = self._sources[index].reader(progress.items, None, self._context)
                try:
                    yield from untouched.snapshot()
                finally:
                    untouched.close()

    def _progress_of_later(self, index: int) -> SourceProgress:
        """Return the progress with a source that this subtask has not started.

        After a restart with another parallelism the progress is a share of that of all former
        subtasks. Only a reader of the source can determine the share.
        """
        if self._restored is None:
            return SourceProgress(False, self._share.splits[index])
        known = [progress[index] for progress in self._restored]
        task = self._context.task
        if not self._begun(index, known):
            if isinstance(self._restored, OwnPositions):
                return known[0]
            if len(known) == task.parallelism:
                return known[task.subtask_index]
        reader = self._begin(index)
        try:
            return SourceProgress(True, tuple(reader.snapshot()))
        finally:
            reader.close()


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
        self.already_typed = all(source.already_typed for source in sources)
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

    def enumerator(self, restored: Sequence[object] | None) -> SplitEnumerator:
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
