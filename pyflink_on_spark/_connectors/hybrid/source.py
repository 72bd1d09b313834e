"""Sources that are read one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.connector import Source, SourceReader, WatermarkRule

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


@dataclass(frozen=True)
class Shares:
    """One subtask's splits, by source."""

    splits: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Progress:
    """How far one subtask is with one source.

    Args:
        begun: whether it has begun to read it.
        items: what its reader's snapshot returned, or the splits that it will get.
    """

    begun: bool
    items: tuple[Any, ...]


class SourceChain(Source):
    """Reads several sources: each subtask begins with the next one when its share has ended.

    Args:
        sources: the sources, of which only the last one need not end.

    Raises:
        ValueError: they produce elements of different types.
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

    def with_watermarks(self, rule: WatermarkRule) -> SourceChain:
        """Return the same with watermarks, which each source makes of its own splits."""
        return SourceChain([source.with_watermarks(rule) for source in self._sources])

    def with_configuration(self, configuration: Mapping[str, str]) -> SourceChain:
        """Return the same for a job, of whose configuration each source takes what it needs."""
        return SourceChain([source.with_configuration(configuration) for source in self._sources])

    def splits(self, parallelism: int) -> list[Shares]:
        """Return the shares of each subtask."""
        found = [source.splits(parallelism) for source in self._sources]
        return [
            Shares(tuple(tuple(splits[index::parallelism]) for splits in found))
            for index in range(parallelism)
        ]

    def between_epochs(self, oldest_checkpoint: int | None) -> None:
        """Let all sources look after what they began."""
        for source in self._sources:
            source.between_epochs(oldest_checkpoint)

    def begin_again(self) -> None:
        """Let all sources begin again what has failed."""
        for source in self._sources:
            source.begin_again()

    def job_ended(self, resumable: bool) -> None:
        """Tell all sources."""
        for source in self._sources:
            source.job_ended(resumable)

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return what reads one subtask's shares."""
        share = splits[0] if splits else Shares(((),) * len(self._sources))
        return ChainReader(self._sources, share, restored, context)


class ChainReader(SourceReader):
    """One subtask's readers, one after the other.

    Args:
        sources: the sources.
        share: the subtask's splits of each.
        restored: for each subtask before, its progress with each source; or None.
        context: the subtask's.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        share: Shares,
        restored: Sequence[tuple[Progress, ...]] | None,
        context: OperatorContext,
    ) -> None:
        self._sources, self._share, self._context = sources, share, context
        self._restored = restored
        self._done: list[Progress] = []
        self.limit = BUNDLE_SIZE
        self._timestamped = any(source.timestamped for source in sources)
        self._idle = False
        self._stopped = False
        self._reader = self._begin(0)

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Whether the last source's share has ended, or the one that it was stopped with."""
        return (self._is_last or self._stopped) and self._reader.ended

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        """Return what the current source has; begin with the next one when it has ended."""
        self._reader.limit = self.limit
        event = self._reader.poll()
        if event is None and self._reader.ended and not self.ended:
            self._done.append(Progress(True, tuple(self._reader.snapshot())))
            self._reader.close()
            self._reader = self._begin(len(self._done))
            if self._idle:  # that was the one before; this one has yet to fall idle
                event = ChannelStatus(idle=False)
        if isinstance(event, ChannelStatus):
            self._idle = event.idle
        if isinstance(event, Bundle) and self._timestamped and event.timestamps is None:
            event = Bundle(event.values, [None] * len(event.values))
        return event

    def stop(self) -> bool:
        """Stop the current source, and begin with no other."""
        self._stopped = True
        return self._reader.stop()

    def backlog(self) -> int | None:
        """Return how much waits at the current source."""
        return self._reader.backlog()

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        """Tell the current source."""
        self._reader.prepare_checkpoint(checkpoint_id)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Tell the current source."""
        self._reader.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Tell the current source."""
        self._reader.notify_checkpoint_aborted(checkpoint_id)

    def snapshot(self) -> list[tuple[Progress, ...]]:
        """Return how far each source is read."""
        later = range(len(self._done) + 1, len(self._sources))
        now = Progress(True, tuple(self._reader.snapshot()))
        return [(*self._done, now, *(self._to_come(index) for index in later))]

    def close(self) -> None:
        """Close the current source."""
        self._reader.close()

    @property
    def _is_last(self) -> bool:
        return len(self._done) == len(self._sources) - 1

    def _begin(self, index: int) -> SourceReader:
        positions = None
        if self._restored is not None:
            known = [progress[index] for progress in self._restored]
            if any(progress.begun for progress in known):
                positions = list(self._positions(index, known))
            else:
                return self._begin_untouched(index, known)
        return self._sources[index].reader(self._share.splits[index], positions, self._context)

    def _begin_untouched(self, index: int, known: Sequence[Progress]) -> SourceReader:
        """Begin with a source that no subtask had begun with when the checkpoint was taken."""
        positions = None
        mine = self._share.splits[index]
        task = self._context.task
        if len(known) == task.parallelism:
            mine = known[task.subtask_index].items
        else:
            positions = list(self._positions(index, known))
        return self._sources[index].reader(mine, positions, self._context)

    def _positions(self, index: int, known: Iterable[Progress]) -> Iterable[Any]:
        """Yield all subtasks' positions in a source; some may not have begun with it."""
        for progress in known:
            if progress.begun:
                yield from progress.items
            else:
                untouched = self._sources[index].reader(progress.items, None, self._context)
                try:
                    yield from untouched.snapshot()
                finally:
                    untouched.close()

    def _to_come(self, index: int) -> Progress:
        """Return what this subtask has of a source that it has not begun with.

        After a restart with another parallelism that is its share of what all had then: a reader
        tells it, since only the source knows how to deal it out.
        """
        if self._restored is None:
            return Progress(False, self._share.splits[index])
        known = [progress[index] for progress in self._restored]
        task = self._context.task
        if len(known) == task.parallelism and not any(progress.begun for progress in known):
            return known[task.subtask_index]
        reader = self._begin(index)
        try:
            return Progress(True, tuple(reader.snapshot()))
        finally:
            reader.close()
