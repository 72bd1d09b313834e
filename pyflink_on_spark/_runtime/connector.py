"""The two ends of a job: what a source and a sink have to be for the runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import Bundle as Bundle
from pyflink_on_spark._runtime.bundle import ChannelStatus, Watermark

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.context import OperatorContext


class SourceReader(ABC):
    """One subtask's end of a source; lives as long as the subtask does."""

    ended: bool = False
    """Whether nothing will ever come any more."""

    @abstractmethod
    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        """Return what comes next, or None if there is nothing right now.

        A few thousand elements at most. It may wait some ten milliseconds for them, never longer.
        """

    def prepare_checkpoint(self, checkpoint_id: int) -> None:  # noqa: B027
        """Get ready for ``snapshot``; nothing is polled in between."""

    @abstractmethod
    def snapshot(self) -> list[Any]:
        """Return how far each split has been read: what ``Source.reader`` goes on from.

        Between two calls of ``poll``, and once more when the source has ended.
        """

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:  # noqa: B027
        """Learn that everything up to a snapshot is safe."""

    def close(self) -> None:  # noqa: B027 - most readers hold nothing
        """Release everything; after a failure too."""


class Source(ABC):
    """Where elements come from. Picklable; carries its whole description."""

    bounded: bool = True
    timestamped: bool = False
    parallel: bool = True
    conforms: bool = False
    """Whether its elements are what the stream's declared type says, so that nothing has to be
    converted."""

    @abstractmethod
    def splits(self, parallelism: int) -> list[Any]:
        """Cut the input into pieces that can be read independently; runs in the driver.

        Args:
            parallelism: how many subtasks will read. Subtask i reads the splits i,
                i + parallelism, ...

        Raises:
            FileNotFoundError: or another plain error, when the input is not there.
        """

    def read(self, split: Any, context: OperatorContext) -> Iterator[Bundle]:
        """Yield a split's elements in order, a few thousand at a time; runs in a subtask."""
        raise NotImplementedError

    def resume(
        self, split: Any, position: Any, context: OperatorContext
    ) -> Iterator[tuple[Bundle | None, Any]]:
        """Yield a split's elements after a position, each bundle with the position behind it.

        For sources that can do it without reading what lies before. None for a bundle: there is
        nothing right now. By default the position is the number of elements.

        Args:
            split: one of ``splits``.
            position: None for the beginning.
            context: the subtask's.
        """
        count = skip = position or 0
        for bundle in self.read(split, context):
            if skip >= len(bundle.values):
                skip -= len(bundle.values)
                continue
            rest = bundle.after(skip)
            skip = 0
            count += len(rest.values)
            yield rest, count

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return the reader of one subtask.

        Args:
            splits: the subtask's share of ``splits``.
            restored: what all readers' ``snapshot`` returned, of all subtasks: this one picks its
                share of it. None without a snapshot.
            context: the subtask's.
        """
        return SplitReader(self, splits, restored, context)


class SplitReader(SourceReader):
    """Reads one split after the other. Its snapshot: pairs of a split and a position."""

    def __init__(
        self,
        source: Source,
        splits: Sequence[Any],
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> None:
        if restored is None:
            self._todo = deque((split, None) for split in splits)
        else:
            task = context.task
            self._todo = deque(restored[task.subtask_index :: task.parallelism])
        self._source, self._context = source, context
        self._reading: Iterator[tuple[Bundle | None, Any]] | None = None

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Whether all splits are through."""
        return not self._todo

    def poll(self) -> Bundle | None:
        """Return the next elements."""
        while self._todo:
            split, position = self._todo[0]
            if self._reading is None:
                self._reading = iter(self._source.resume(split, position, self._context))
            found = next(self._reading, None)
            if found is None:
                self._reading = None
                self._todo.popleft()
                continue
            bundle, self._todo[0] = found[0], (split, found[1])
            return bundle
        return None

    def snapshot(self) -> list[Any]:
        """Return what is left of each split."""
        return list(self._todo)

    def close(self) -> None:
        """End the split that is being read."""
        close = getattr(self._reading, "close", None)
        if close is not None:
            close()


class SinkWriter(ABC):
    """One subtask's end of a sink."""

    @abstractmethod
    def write(self, elements: Iterator[Any]) -> None:
        """Take over all elements of a lazy iterator."""

    def advance_watermark(self, watermark: int) -> None:  # noqa: B027
        """Learn of event time (ms)."""

    def prepare_commit(self) -> list[Any]:
        """Make all that was written ready, and say what the driver has to commit."""
        return []

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        """Make ready what the checkpoint shall commit; by default all that was written."""
        return self.prepare_commit()

    def snapshot(self) -> list[Any]:
        """Return what a new writer needs to go on; called after ``prepare_checkpoint``."""
        return []

    def restore(self, snapshots: Sequence[Any]) -> None:
        """Go on from a subtask's share of what all writers' ``snapshot`` returned.

        Called before the first element.
        """
        if snapshots:
            raise ValueError(f"{type(self).__name__} cannot take over {snapshots!r}")

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:  # noqa: B027
        """Learn that a checkpoint is safe."""

    def code_of_functions(self) -> Iterable[Any]:
        """Return the user's callables that run inside, so that a failure can be traced to here."""
        return ()

    def close(self) -> None:  # noqa: B027 - most writers have nothing to give up
        """Release everything; after a failure too. What was not prepared is given up."""


class Sink(ABC):
    """Where elements go. Picklable; carries its whole description."""

    @abstractmethod
    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask."""

    def with_input_type(self, type_info: Any) -> Sink:
        """Return this sink for a stream of the given type (a TypeInformation, or None).

        Raises:
            TypeError: if such a stream cannot be written.
        """
        return self

    def commit(self, committables: list[Any]) -> None:  # noqa: B027
        """Make visible what all writers prepared; once, in the driver. Idempotent."""

    def abort(self, committables: list[Any]) -> None:  # noqa: B027
        """Throw away what writers prepared in a job that failed."""
