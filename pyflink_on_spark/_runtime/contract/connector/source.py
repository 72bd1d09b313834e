"""The contract of a source: what runs in the driver, what runs in a worker, and when.

A ``Source`` is a picklable description. The driver calls:

1. ``with_watermarks`` while the program builds its graph, ``with_rhythm`` and
   ``with_configuration`` when the job is submitted. All return a source; none changes the source
   that it is called on.
2. ``splits`` once when the job is submitted. A restart uses the same splits again.
3. ``enumerator`` at the beginning of each attempt, of a source whose readers ask for splits. See
   the module ``enumerator``.
4. ``maintain`` again and again while the job runs, and ``begin_again`` before every attempt
   except the first.
5. ``job_ended`` once, however the job has ended.

Each subtask gets a pickled copy of the source, and calls ``reader`` once. A ``SourceReader`` lives
in one thread of one worker:

1. ``poll`` again and again, until ``ended`` is true or ``stop`` was called.
2. At each checkpoint ``prepare_checkpoint``, directly followed by ``snapshot``; never during
   ``poll``. Then either ``notify_checkpoint_complete`` or ``notify_checkpoint_aborted`` with the
   same number. More elements may be polled in between, and a notification may be missing after a
   failure.
3. ``stop`` at most once, if the job drains; then ``poll`` as long as ``stop`` has asked for it.
4. ``close`` once, also after a failure.

A source whose splits are read one after the other needs no reader of its own: it implements
``read``, and the default ``reader`` does the rest. ``resume`` is for a source that can skip what
was read before without reading it again.

**Positions.** A position is the place *after* the last element that ``poll`` has returned, which
is the place of the *next* element to read: the offset of the last record plus one, the number of
elements read so far. Elements that were fetched but that ``poll`` has not returned are not part of
a position. A restored reader begins exactly at its position: an element before it is never emitted
again, and an element at it or after it is never skipped.

A source of the lines of two files::

    class Lines(Source):
        def splits(self, parallelism):
            return ["a.txt", "b.txt"]

        def read(self, split, context):
            with open(split) as file:
                while lines := list(islice(file, BUNDLE_SIZE)):
                    yield Bundle(lines)

A reader that commits offsets to its server does so in ``notify_checkpoint_complete``, and only
those of the snapshot that belongs to the checkpoint: elements after it may still be lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.elements.clock import WatermarkRhythm
from pyflink_on_spark._runtime.moved_in.coders import DataInput

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector.enumerator import SplitEnumerator
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


@dataclass(frozen=True)
class WatermarkRule:
    """The rule by which a source generates watermarks from timestamps of its records, or of rows.

    Args:
        delay: how much later than the largest timestamp a record may arrive, in ms; None for a
            source without watermarks.
        idle_timeout: the time without records after which a split is idle, in ms; None: never.
        rhythm: how often a watermark is emitted; the job decides.
        noted: whether the times are those that operators note (``SplitTimes``), and not the
            timestamps of records.
    """

    delay: int | None = None
    idle_timeout: int | None = None
    rhythm: WatermarkRhythm = field(default_factory=WatermarkRhythm)
    noted: bool = False


Versioned = tuple[int, DataInput]
"""The version of a serializer of Flink, and what was written with it."""


@dataclass(frozen=True)
class FlinkSplits:
    """The splits of a source of Flink.

    Args:
        splits: those that readers have, as the source's serializer has written them.
        enumerator: what the enumerator keeps; None if there is nothing.
        of_function: the elements that a source function keeps, by the name of the state.
    """

    splits: tuple[Versioned, ...]
    enumerator: Versioned | None = None
    of_function: Mapping[str, Sequence[object]] = field(default_factory=dict)


class SourceReader(ABC):
    """Reads a source in one subtask, and lives as long as the subtask."""

    ended: bool = False
    """True once the reader has returned its last element."""

    limit: int = BUNDLE_SIZE
    """The largest number of elements that ``poll`` may return. The subtask changes the limit."""

    @abstractmethod
    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        """Return the next event, or None if there is none at the moment.

        A bundle has at most ``limit`` elements. The method may wait some ten milliseconds for
        elements, and never longer: the subtask cannot do anything else meanwhile.
        """

    def splits_wanted(self) -> int:
        """Return how many splits to ask the source's enumerator for.

        Called after each ``poll``. After a number other than 0 nothing more is wanted until
        ``add_splits`` was called.
        """
        return 0

    def add_splits(self, splits: Sequence[Any], *, at_once: bool) -> None:
        """Take the splits that were asked for, or some of them.

        Args:
            splits: what the enumerator handed out.
            at_once: whether they were there when they were asked for.
        """
        raise AssertionError("a reader that asks for no splits gets none")

    def stop(self) -> bool:
        """Stop to read, because the job drains.

        Returns:
            Whether the reader still has elements to emit. If so, ``poll`` is called until ``ended``
            is true; otherwise it is not called again.
        """
        return False

    def prepare_checkpoint(self, checkpoint_id: int) -> None:  # noqa: B027
        """Prepare a snapshot; ``snapshot`` follows directly.

        The method is also called after the end of the source, or after ``stop``, until a checkpoint
        with the last snapshot is complete.
        """

    @abstractmethod
    def snapshot(self) -> list[Any]:
        """Return the position of every split; ``Source.reader`` resumes from them.

        Called after ``prepare_checkpoint``, never during ``poll``. In a job without checkpoints
        called once at the end of the source, without ``prepare_checkpoint``.

        Returns:
            Picklable objects, of which a restored job may give any to any subtask.
        """

    def backlog(self) -> int | None:
        """Return how many elements wait to be read; None if only the server knows the number."""
        return None

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:  # noqa: B027
        """Take note that the job will never restart from before this checkpoint's snapshot.

        A reader that has ended or was stopped is closed after the first complete checkpoint with
        its last snapshot.
        """

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:  # noqa: B027
        """Take note that a checkpoint was aborted, and the job continues."""

    def close(self) -> None:  # noqa: B027 - most readers hold nothing
        """Release all resources, also after a failure."""


class Source(ABC):
    """A picklable description of a source. See the module for the contract."""

    bounded: bool = True
    """True for a source that ends."""

    timestamped: bool = False
    """True if bundles have timestamps."""

    takes_noted_times: bool = False
    """True for a source that generates watermarks by a rule with ``noted``."""

    parallel: bool = True
    """True if the source may have more than one subtask."""

    already_typed: bool = False
    """True if elements are of ``produced_type`` already, so that nothing has to be converted."""

    asked: bool = False
    """True if readers request splits, so that there is an ``enumerator``."""

    produced_type: Any = None
    """The type of the elements, or None."""

    @abstractmethod
    def splits(self, parallelism: int) -> list[Any]:
        """Divide the input into splits that can be read independently. Runs in the driver.

        Args:
            parallelism: the number of subtasks. Subtask i reads the splits i, i + parallelism, ...

        Raises:
            FileNotFoundError: the input does not exist. Other errors for other reasons.
        """

    def enumerator(self, restored: Sequence[object] | None) -> SplitEnumerator:
        """Return the enumerator of the splits that readers ask for. Runs in the driver.

        Args:
            restored: the snapshots of the enumerator and of all readers, at any parallelism. None
                without a checkpoint.
        """
        raise NotImplementedError

    def positions_of_flink(self, found: FlinkSplits) -> list[object]:
        """Make positions of what a savepoint of Flink has of the source. Runs in the driver.

        Args:
            found: the splits of Flink's source.

        Returns:
            What readers might have returned from ``snapshot``, and the enumerator.

        Raises:
            ValueError: the source cannot continue from there.
        """
        raise ValueError("a source of this kind cannot continue from positions of Flink")

    def positions_for_flink(self, positions: Sequence[object]) -> tuple[int, bytes]:
        """Write positions as the enumerator of Flink's source keeps them. Runs in the driver.

        Args:
            positions: the snapshots of all readers and of the enumerator.

        Returns:
            The version of the serializer, and what the serializer writes.

        Raises:
            ValueError: Flink's source cannot continue from there.
        """
        raise ValueError("Flink cannot continue from the positions of a source of this kind")

    def with_watermarks(self, rule: WatermarkRule) -> Source:
        """Return a source that generates watermarks; a source without timestamps generates none."""
        return self

    def with_rhythm(self, rhythm: WatermarkRhythm) -> Source:
        """Return this source, emitting its watermarks at the rhythm of the job."""
        return self

    def with_configuration(self, configuration: Mapping[str, str]) -> Source:
        """Return this source for a job, whose configuration may say how to reach the input."""
        return self

    def maintain(self, oldest_checkpoint: int | None) -> None:  # noqa: B027
        """Maintain what ``splits`` has started in the driver, while the job runs.

        Args:
            oldest_checkpoint: the number of the oldest retained checkpoint, if there is one.

        Raises:
            BaseException: the attempt has to fail.
        """

    def begin_again(self) -> None:  # noqa: B027 - most sources start nothing in the driver
        """Restart driver-side work that failed. Called before every attempt except the first."""

    def job_ended(self, resumable: bool) -> None:  # noqa: B027 - as above
        """Release what ``splits`` has started in the driver.

        Args:
            resumable: whether the job leaves a checkpoint or savepoint to resume from.
        """

    def read(self, split: Any, context: OperatorContext) -> Iterator[Bundle]:
        """Yield the elements of a split in order, a few thousand at a time. Runs in a worker."""
        raise NotImplementedError

    def resume(
        self, split: Any, position: Any, context: OperatorContext
    ) -> Iterator[tuple[Bundle | None, object]]:
        """Yield the elements of a split from a position on. Runs in a worker.

        The default counts elements, and reads the skipped ones again. Override the method if the
        input can be read from the middle.

        Args:
            split: one of ``splits``.
            position: a position that this method has yielded for the split; None for the beginning.
            context: the context of the subtask.

        Yields:
            A bundle, and the position after the bundle's last element. None for the bundle: there
            are no elements at the moment.
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
        """Return the reader of one subtask. Runs in a worker.

        Args:
            splits: the splits of the subtask.
            restored: what the readers of all subtasks returned from ``snapshot``, at any
                parallelism; the reader picks its share, as ``share_of`` does. None without a
                checkpoint. OwnPositions if this subtask alone continues elsewhere.
            context: the context of the subtask.
        """
        return SplitReader(self, splits, restored, context)


class OwnPositions(list[Any]):
    """The positions of the reader of one subtask, for the reader that replaces it elsewhere.

    All of it is the new reader's share. The readers of other subtasks work on meanwhile.
    """


def share_of(restored: Sequence[object], context: OperatorContext) -> Sequence[Any]:
    """Return the share of a subtask in positions that any subtask can continue from."""
    task = context.task
    own = isinstance(restored, OwnPositions)
    return restored if own else restored[task.subtask_index :: task.parallelism]


_END = object()


class SplitReader(SourceReader):
    """Reads one split after the other.

    The snapshot has an entry for each split that is not read to its end: the split, a position
    within it, and how many elements after the position are read already. The last number is not 0
    if ``poll`` has returned a part of a bundle.
    """

    def __init__(
        self,
        source: Source,
        splits: Sequence[object],
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> None:
        if restored is None:
            self._todo = deque((split, None, 0) for split in splits)
        else:
            self._todo = deque(share_of(restored, context))
        self._source, self._context = source, context
        self._reading: Iterator[tuple[Bundle | None, Any]] | None = None
        self._rest: tuple[Bundle, Any] | None = None
        self._skip = 0

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """True once all splits are read to their end."""
        return not self._todo

    def poll(self) -> Bundle | None:
        """Return the next elements of the current split."""
        while self._todo:
            if self._rest is None and not self._read_next():
                return None
            if self._rest is not None:
                return self._take(*self._rest)
        return None

    def _read_next(self) -> bool:
        """Read the next bundle, or start the next split; return whether there was anything."""
        split, position, skip = self._todo[0]
        if self._reading is None:
            self._reading = iter(self._source.resume(split, position, self._context))
            self._skip = skip
        bundle, next_position = next(self._reading, (_END, None))
        if bundle is _END:
            self._reading = None
            self._todo.popleft()
        elif bundle is None:
            self._todo[0] = (split, next_position, self._skip)
            return False
        else:
            assert isinstance(bundle, Bundle)
            skipped = min(self._skip, len(bundle.values))
            self._skip -= skipped
            self._rest = bundle.after(skipped), next_position
        return True

    def _take(self, bundle: Bundle, next_position: Any) -> Bundle:
        split, position, skip = self._todo[0]
        taken = bundle.first(self.limit) if len(bundle.values) > self.limit else bundle
        if taken is bundle:
            self._rest, self._todo[0] = None, (split, next_position, self._skip)
        else:
            count = len(taken.values)
            self._rest = bundle.after(count), next_position
            self._todo[0] = split, position, skip + count
        return taken

    def snapshot(self) -> list[Any]:
        """Return the splits that are not read to their end."""
        return list(self._todo)

    def close(self) -> None:
        """Close the iterator of the current split."""
        close = getattr(self._reading, "close", None)
        if close is not None:
            close()
