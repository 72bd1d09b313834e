"""Reads several sources one after the other in one subtask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.connector import Source, SourceReader

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


@dataclass(frozen=True)
class SourceShares:
    """One subtask's splits, by source."""

    splits: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class SourceProgress:
    """How far one subtask is with one source.

    Args:
        begun: whether it has begun to read it.
        items: what its reader's snapshot returned, or the splits that it will get.
    """

    begun: bool
    items: tuple[Any, ...]


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
        share: SourceShares,
        restored: Sequence[tuple[SourceProgress, ...]] | None,
        context: OperatorContext,
    ) -> None:
        self._sources, self._share, self._context = sources, share, context
        self._restored = restored
        self._done: list[SourceProgress] = []
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
            self._done.append(SourceProgress(True, tuple(self._reader.snapshot())))
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

    def snapshot(self) -> list[tuple[SourceProgress, ...]]:
        """Return how far each source is read."""
        later = range(len(self._done) + 1, len(self._sources))
        now = SourceProgress(True, tuple(self._reader.snapshot()))
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

    def _begin_untouched(self, index: int, known: Sequence[SourceProgress]) -> SourceReader:
        """Begin with a source that no subtask had begun with when the checkpoint was taken."""
        positions = None
        mine = self._share.splits[index]
        task = self._context.task
        if len(known) == task.parallelism:
            mine = known[task.subtask_index].items
        else:
            positions = list(self._positions(index, known))
        return self._sources[index].reader(mine, positions, self._context)

    def _positions(self, index: int, known: Iterable[SourceProgress]) -> Iterable[Any]:
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

    def _to_come(self, index: int) -> SourceProgress:
        """Return what this subtask has of a source that it has not begun with.

        After a restart with another parallelism that is its share of what all had then: a reader
        tells it, since only the source knows how to deal it out.
        """
        if self._restored is None:
            return SourceProgress(False, self._share.splits[index])
        known = [progress[index] for progress in self._restored]
        task = self._context.task
        if len(known) == task.parallelism and not any(progress.begun for progress in known):
            return known[task.subtask_index]
        reader = self._begin(index)
        try:
            return SourceProgress(True, tuple(reader.snapshot()))
        finally:
            reader.close()
