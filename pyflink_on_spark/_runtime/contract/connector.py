"""The contract of sources and sinks: what runs in the driver, what in a worker, and when."""

from __future__ import annotations

import pickle
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


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
    """Reads a source in one subtask, and lives as long as the subtask. See ``Source``."""

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
    """A picklable description of a source.

    The driver calls:

    1. ``with_watermarks`` while the program builds its graph, ``with_rhythm`` and
       ``with_configuration`` when the job is submitted. All return a source; none changes the
       source that it is called on.
    2. ``splits`` once when the job is submitted. A restart uses the same splits again.
    3. ``enumerator`` at the beginning of each attempt, of a source whose readers ask for splits.
       See ``SplitEnumerator``.
    4. ``maintain`` again and again while the job runs, and ``begin_again`` before every attempt
       except the first.
    5. ``job_ended`` once, however the job has ended.

    Each subtask gets a pickled copy of the source, and calls ``reader`` once. A ``SourceReader``
    lives in one thread of one worker:

    1. ``poll`` again and again, until ``ended`` is true or ``stop`` was called.
    2. At each checkpoint ``prepare_checkpoint``, directly followed by ``snapshot``; never during
       ``poll``. Then either ``notify_checkpoint_complete`` or ``notify_checkpoint_aborted`` with
       the same number. More elements may be polled in between, and a notification may be missing
       after a failure.
    3. ``stop`` at most once, if the job drains; then ``poll`` as long as ``stop`` has asked for it.
    4. ``close`` once, also after a failure.

    A source whose splits are read one after the other needs no reader of its own: it implements
    ``read``, and the default ``reader`` does the rest. ``resume`` is for a source that can skip
    what was read before without reading it again.

    **Positions.** A position is the place *after* the last element that ``poll`` has returned,
    which is the place of the *next* element to read: the offset of the last record plus one, the
    number of elements read so far. Elements that were fetched but that ``poll`` has not returned
    are not part of a position. A restored reader begins exactly at its position: an element before
    it is never emitted again, and an element at it or after it is never skipped.

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


MOST_AHEAD = 64
"""How many splits a reader asks for at most."""

UnreadSplit = tuple[Any, Any, int, int]
"""A split, the position of what was read last (None: nothing), how many elements after it were
read, and the number of the split in the order in which splits were found."""


class SplitEnumerator(ABC):
    """Knows the splits that no reader has yet. Runs in the driver.

    Such a source divides its input while the job runs. The enumerator lives for one attempt. A
    reader asks for splits when it has read what it had, and gets the next ones in the order in
    which they were found. So readers do not drift apart, however fast each of them is, and each
    reads its splits in that order.

    A checkpoint has what the enumerator still had when the checkpoint was ordered, and what each
    reader had not read to its end. A split that a reader gets after the order and before its
    barrier would be in both; it waits until the barrier has passed. At a restore all of it goes
    back to the enumerator, the splits that were begun with their positions, in the order in which
    they were found: whatever the parallelism is, the oldest split is read first.

    ``search`` may take long, and runs while other methods are called. Nothing else runs at the same
    time as another call.
    """

    interval: int | None = None
    """The time between two searches (ms); None if nothing is searched."""

    def __init__(self) -> None:
        self._unread: deque[UnreadSplit] = deque()
        self._number = 0

    @abstractmethod
    def search(self) -> list[Any]:
        """Return the splits that are new, in their order.

        Raises:
            Exception: the attempt has to fail.
        """

    def found(self, splits: Iterable[Any]) -> None:
        """Take what ``search`` returned."""
        for split in splits:
            self._unread.append((split, None, 0, self._number))
            self._number += 1

    def give_back(self, unread: Iterable[UnreadSplit]) -> None:
        """Take the splits of a checkpoint, before anything else."""
        self._unread.extend(sorted(unread, key=_number_of))
        if self._unread:
            self._number = self._unread[-1][3] + 1

    def take(self) -> UnreadSplit | None:
        """Return, once, the next split that no reader has."""
        return self._unread.popleft() if self._unread else None

    def snapshot(self) -> list[Any]:
        """Return the unread splits for a checkpoint; ``Source.enumerator`` gets them back."""
        return list(self._unread)


def _number_of(unread: UnreadSplit) -> int:
    return unread[3]


class AskingReader(SplitReader):
    """Reads the splits that it asks for, one after the other; it never ends.

    One split is there in advance, so that no time is lost while the next one is asked for. Where
    splits are so small that it is, more are.
    """

    def __init__(self, source: Source, context: OperatorContext) -> None:
        super().__init__(source, (), None, context)
        self._numbers: deque[int] = deque()
        self._ahead, self._asked, self._polls = 1, False, 0
        self._starved = False

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """False: there may always be another split."""
        return False

    def poll(self) -> Bundle | None:
        """Return the next elements of the splits that are here."""
        before = len(self._todo)
        bundle = super().poll()
        done = before - len(self._todo)
        if done:
            for _ in range(done):
                self._numbers.popleft()
            self._polls = 0
        elif bundle is not None:
            self._polls += 1
            if self._polls > 2:
                self._ahead = 1  # splits are large: the others may have the next ones
        if bundle is None and done:
            self._starved = self._asked
        return bundle

    def splits_wanted(self) -> int:
        if self._asked or len(self._todo) > max(1, self._ahead // 2):
            return 0
        self._asked = True
        return self._ahead

    def add_splits(self, splits: Sequence[UnreadSplit], *, at_once: bool) -> None:
        for split, position, skip, number in splits:
            self._todo.append((split, position, skip))
            self._numbers.append(number)
        if self._starved and at_once:
            self._ahead = min(2 * self._ahead, MOST_AHEAD)
        self._asked = self._starved = False

    def snapshot(self) -> list[UnreadSplit]:
        """Return the splits that are not read to their end."""
        return [
            (split, position, skip, number)
            for (split, position, skip), number in zip(self._todo, self._numbers, strict=True)
        ]


class SinkWriter(ABC):
    """Writes to a sink in one subtask. See ``Sink`` for the contract."""

    @abstractmethod
    def write(self, elements: Iterator[object]) -> None:
        """Write all elements of a lazy iterator.

        The iterator runs the user's functions, so it may raise. The writer must then be able to
        ``close``.
        """

    def advance_watermark(self, watermark: int) -> None:  # noqa: B027
        """Take note of the event time in ms."""

    def advance_processing_time(self, now: int) -> None:  # noqa: B027
        """Take note of the processing time in ms; called also while no elements arrive."""

    def next_processing_time(self) -> int | None:
        """Return when (ms) the writer needs the clock next, unless an element comes before.

        Returns:
            A time that is over if the writer cannot tell; None for never.
        """
        own = type(self).advance_processing_time is not SinkWriter.advance_processing_time
        return 0 if own else None

    def prepare_commit(self) -> list[Any]:
        """Finish all that was written; return the committables. Called at the end of the input."""
        return []

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        """Return the committables of a checkpoint; by default those of all that was written."""
        return self.prepare_commit()

    def snapshot(self) -> list[Any]:
        """Return the state from which a new writer continues; called after ``prepare_checkpoint``.

        Returns:
            Picklable objects, of which a restored job may give any to any subtask.
        """
        return []

    def restore(self, snapshots: Sequence[Any]) -> None:
        """Continue from a share of all writers' snapshots.

        Called before the first element, with an empty sequence if there is nothing to restore.

        Raises:
            ValueError: the writer cannot continue from them.
        """
        if snapshots:
            raise ValueError(f"{type(self).__name__} cannot take over {snapshots!r}")

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:  # noqa: B027
        """Take note that a checkpoint is complete, and its committables are committed."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:  # noqa: B027
        """Take note that a checkpoint was aborted; the next one has its committables."""

    def close(self) -> None:  # noqa: B027 - most writers have nothing to release
        """Release all resources, also after a failure; drop all that is not in a committable."""


class Sink(ABC):
    """A picklable description of a sink.

    Each subtask gets a pickled copy, and calls ``writer`` once. A ``SinkWriter`` lives in one
    thread of one worker:

    1. ``restore`` once, before the first element.
    2. ``write`` again and again; ``advance_watermark`` and ``advance_processing_time`` in between.
    3. At each checkpoint ``prepare_checkpoint``, directly followed by ``snapshot``. Then either
       ``notify_checkpoint_complete``, after the driver has committed, or
       ``notify_checkpoint_aborted``.
    4. At the end of the input ``prepare_commit``. In a job with checkpoints a last checkpoint
       follows.
    5. ``close`` once, also after a failure.

    What ``prepare_checkpoint`` and ``prepare_commit`` return are *committables*: picklable objects
    that describe elements which are written, but not visible yet. Committables are part of the
    checkpoint. The driver makes them visible:

    1. ``with_input_type`` while the program builds its graph; ``with_configuration``, then
       ``in_place`` when the job is submitted. All three return a sink and do not change the sink
       that they are called on. ``claims`` is read after that, and two sinks of a job must not claim
       the same.
    2. ``check_durable`` before the first checkpoint that can outlive the driver.
    3. When an attempt begins that can commit: ``take_over``, then ``commit_again`` with the
       committables of the checkpoint that the attempt resumes from.
    4. When a checkpoint is complete: ``hold_back``, then ``commit`` with the committables to commit
       now. The others come again with the next checkpoint, before the new ones.
    5. When the input has ended: ``commit`` with all that is left, without ``hold_back``. In a job
       without checkpoints the list may be empty.
    6. ``keep`` when a savepoint of a running job is complete; nothing is committed with it.
    7. ``abort`` with the committables of a job that failed without a checkpoint to resume from.
    8. ``job_ended`` once, however the job has ended.

    Committables pass through the memory of the driver. A writer whose committables contain the
    elements themselves returns a ``LargeCommittable``: its content goes from the host to the folder
    of the checkpoint, and the driver reads it in pieces. The content is removed with the
    checkpoint, so ``hold_back`` must not keep it for a later one.

    **What may happen twice.** The driver can fail between a commit and its record of it. So
    ``commit_again`` may get committables that are visible already, and the same committables may
    come to ``commit_again`` any number of times: both ``commit`` and ``commit_again`` are
    idempotent. ``hold_back`` returns the same result for the same arguments. ``commit`` alone is
    called once for each committable of a run that does not fail.

    A sink that writes when an element arrives has no committables. It delivers at least once if
    ``prepare_checkpoint`` waits until all elements are written: after a failure the elements since
    the last checkpoint are written again::

        class Upserts(Sink):
            def writer(self, context):
                return UpsertWriter()

        class UpsertWriter(SinkWriter):
            def write(self, elements):
                for element in elements:
                    self.table.send_upsert(element)

            def prepare_commit(self):
                self.table.flush()
                return []
    """

    flink_commits: bool = False
    """True if Flink commits what its sink of this kind writes, in an operator of its own."""

    @abstractmethod
    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask. Runs in a worker; all other methods in the driver."""

    def with_input_type(self, type_info: TypeInformation | None) -> Sink:
        """Return this sink for a stream of a type (a TypeInformation, or None).

        Raises:
            TypeError: the sink cannot write such a stream.
        """
        return self

    def with_configuration(self, configuration: Mapping[str, str]) -> Sink:
        """Return this sink for a job, whose configuration may say how to reach the output."""
        return self

    def in_place(self, job: str, operator: str) -> Sink:
        """Return this sink for its place in a job. Both names stay the same from run to run.

        Args:
            job: the name of the job.
            operator: the name under which checkpoints store the sink's committables.
        """
        return self

    def snapshots_of_flink(self, written: Sequence[Versioned]) -> list[object]:
        """Make snapshots of writers of what a savepoint of Flink has. Runs in the driver.

        Args:
            written: what each writer of Flink's sink has kept.

        Returns:
            What writers might have returned from ``snapshot``.

        Raises:
            ValueError: the sink cannot continue what is there.
        """
        raise ValueError("a sink of this kind cannot continue what one of Flink has begun")

    @property
    def claims(self) -> frozenset[str]:
        """Descriptions of things that only one sink of a job may use."""
        return frozenset()

    def check_durable(self) -> None:  # noqa: B027 - most committables outlive the driver
        """Raise if another driver could not commit the committables of a checkpoint.

        Raises:
            CheckpointError: the committables depend on this driver's process.
        """

    def take_over(self) -> None:  # noqa: B027 - most sinks share nothing with earlier runs
        """Fence earlier writers: an earlier attempt, or the driver of an earlier run.

        The earlier driver may still be running. ``commit_again`` follows.
        """

    def hold_back(self, committables: list[Any], checkpoint_id: int) -> tuple[list[Any], list[Any]]:
        """Return the committables to commit now, and those to commit with a later checkpoint.

        Not called at the end of the job. A LargeCommittable cannot be held back.
        """
        return committables, []

    holds_again: bool = False
    """True if a job that resumes from another job's checkpoint holds back what that job has held
    back, and may have committed since."""

    def commit(self, committables: list[Any]) -> None:  # noqa: B027
        """Make committables of all writers visible. Idempotent."""

    def commit_again(self, committables: list[Any]) -> None:
        """Make committables visible that may be visible already, after a failure. Idempotent."""
        self.commit(committables)

    keeps_snapshots: bool = False
    """True if ``keep`` also receives the writers' snapshots."""

    def keep(self, committables: list[Any]) -> None:  # noqa: B027 - most are never removed
        """Retain these committables: a savepoint references them.

        They will also be committed by the next checkpoint. Until then, and whatever fails, nothing
        that they describe may be removed.
        """

    def abort(self, committables: list[Any]) -> None:  # noqa: B027
        """Remove what the committables of a failed job describe, except LargeCommittables."""

    def remove_leftovers(self, attempts: int) -> None:  # noqa: B027
        """Remove what tasks of this job have left that ended without their writers' ``close``.

        Called in the driver once everything is committed, if the job has ended normally.

        Args:
            attempts: how many attempts the job had.
        """

    def job_ended(self) -> None:  # noqa: B027 - most sinks keep nothing open in the driver
        """Release the sink's resources in the driver."""


_STORED, _FAST = 0, 1
_MOST = 8 * 1024 * 1024


@dataclass(frozen=True)
class LargeCommittable:
    """A committable with content of any size.

    A writer makes its committable with frames in memory. If the checkpoint has a folder, the host
    stores the frames there, and the sink gets the committable with ``StoredFrames``, which read one
    frame at a time. So a sink iterates over the frames, as often as it likes, and keeps none.

    The frames are removed with their checkpoint. A sink must not hold such a committable back. The
    committable describes nothing outside of the checkpoint: ``abort`` need not get it.

    Args:
        frames: the content in order; ``pack`` makes frames that fit into memory.
    """

    frames: Iterable[bytes] = field(repr=False)


def pack(things: Sequence[object], *, compressed: bool = False) -> list[bytes]:
    """Return picklable objects as frames; ``unpack`` returns the objects of a frame."""
    content = pickle.dumps(things, 5)
    if len(content) <= _MOST or len(things) <= 1:
        return [zlib.compress(content, _FAST if compressed else _STORED)]
    del content
    halves = things[: len(things) // 2], things[len(things) // 2 :]
    return [frame for half in halves for frame in pack(half, compressed=compressed)]


def unpack(frame: bytes) -> list[Any]:
    """Return the objects of a frame in order."""
    things: list[object] = pickle.loads(zlib.decompress(frame))
    return things
