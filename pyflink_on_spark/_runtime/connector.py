"""The two ends of a job: what a source and a sink have to be for the runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle, ChannelStatus, Watermark

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


@dataclass(frozen=True)
class WatermarkRule:
    """How a source makes watermarks of its records' own timestamps.

    Args:
        delay: by how much (ms) records may come late; None for no watermarks.
        idle_timeout: after how long without records (ms) a split holds nothing back; None:
            it always does.
        interval: after how many records a watermark comes, in ``poll`` without a pause.
    """

    delay: int | None = None
    idle_timeout: int | None = None
    interval: int = 10_000


class SourceReader(ABC):
    """One subtask's end of a source; lives as long as the subtask does."""

    ended: bool = False
    """Whether nothing will ever come any more."""

    limit: int = BUNDLE_SIZE
    """How many elements ``poll`` shall return at most; the subtask changes it as it goes."""

    @abstractmethod
    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        """Return what comes next, or None if there is nothing right now.

        A few thousand elements at most. It may wait some ten milliseconds for them, never longer.
        """

    def stop(self) -> bool:
        """Take nothing more from outside, since the job drains.

        Returns:
            Whether ``poll`` has still to hand on what was taken before: it will say ``ended``
            when it has. If not, it is not called again.
        """
        return False

    def prepare_checkpoint(self, checkpoint_id: int) -> None:  # noqa: B027
        """Get ready for ``snapshot``; nothing is polled in between.

        Also when the source has ended or was stopped, until such a checkpoint is complete.
        """

    @abstractmethod
    def snapshot(self) -> list[Any]:
        """Return how far each split has been read: what ``Source.reader`` goes on from.

        Between two calls of ``poll``, after ``prepare_checkpoint``. In a job without checkpoints
        once, when the source has ended, without that.
        """

    def backlog(self) -> int | None:
        """Return how many elements wait to be read, if that is known without asking anyone."""
        return None

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:  # noqa: B027
        """Learn that everything up to a snapshot is safe.

        One that has ended or was stopped is closed when it has heard this of its last snapshot.
        """

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:  # noqa: B027
        """Learn that a checkpoint was given up, and the job goes on."""

    def close(self) -> None:  # noqa: B027 - most readers hold nothing
        """Release everything; after a failure too."""


class Source(ABC):
    """Where elements come from. Picklable; carries its whole description."""

    bounded: bool = True
    timestamped: bool = False
    parallel: bool = True
    conforms: bool = False
    """Whether its elements are what ``produced_type`` says, so that nothing has to be converted."""

    produced_type: Any = None
    """The type of its elements, or None."""

    @abstractmethod
    def splits(self, parallelism: int) -> list[Any]:
        """Cut the input into pieces that can be read independently; runs in the driver.

        Args:
            parallelism: how many subtasks will read. Subtask i reads the splits i,
                i + parallelism, ...

        Raises:
            FileNotFoundError: or another plain error, when the input is not there.
        """

    def with_watermarks(self, rule: WatermarkRule) -> Source:
        """Return this source, making watermarks itself; one without timestamps makes none."""
        return self

    def with_configuration(self, configuration: Mapping[str, str]) -> Source:
        """Return this source for a job, whose configuration says how it reaches its input."""
        return self

    def between_epochs(self, oldest_checkpoint: int | None) -> None:  # noqa: B027
        """Look after what ``splits`` began in the driver, while the job goes on.

        Args:
            oldest_checkpoint: the number of the oldest checkpoint that is kept, if there is one.

        Raises:
            BaseException: what ends the attempt.
        """

    def begin_again(self) -> None:  # noqa: B027 - most sources begin nothing in the driver
        """Begin what has failed of it once more; before each attempt but the first."""

    def job_ended(self, resumable: bool) -> None:  # noqa: B027 - most need nothing in the driver
        """Let go of what ``splits`` began in the driver; once the job has ended, however.

        Args:
            resumable: whether a checkpoint or savepoint is left of the job, to go on from.
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


_END = object()


class SplitReader(SourceReader):
    """Reads one split after the other.

    Its snapshot: for each split a position, and how many elements behind it are read already.
    """

    def __init__(
        self,
        source: Source,
        splits: Sequence[Any],
        restored: Sequence[Any] | None,
        context: OperatorContext,
    ) -> None:
        if restored is None:
            self._todo = deque((split, None, 0) for split in splits)
        else:
            task = context.task
            self._todo = deque(restored[task.subtask_index :: task.parallelism])
        self._source, self._context = source, context
        self._reading: Iterator[tuple[Bundle | None, Any]] | None = None
        self._rest: tuple[Bundle, Any] | None = None
        self._skip = 0

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Whether all splits are through."""
        return not self._todo

    def poll(self) -> Bundle | None:
        """Return the next elements."""
        while self._todo:
            if self._rest is None and not self._read_on():
                return None
            if self._rest is not None:
                return self._take(*self._rest)
        return None

    def _read_on(self) -> bool:
        """Read the next bundle, or begin the next split; tell whether there was anything."""
        split, position, skip = self._todo[0]
        if self._reading is None:
            self._reading = iter(self._source.resume(split, position, self._context))
            self._skip = skip
        bundle, behind = next(self._reading, (_END, None))
        if bundle is _END:
            self._reading = None
            self._todo.popleft()
        elif bundle is None:
            self._todo[0] = (split, behind, self._skip)
            return False
        else:
            assert isinstance(bundle, Bundle)
            skipped = min(self._skip, len(bundle.values))
            self._skip -= skipped
            self._rest = bundle.after(skipped), behind
        return True

    def _take(self, bundle: Bundle, behind: Any) -> Bundle:
        split, position, skip = self._todo[0]
        taken = bundle.first(self.limit) if len(bundle.values) > self.limit else bundle
        if taken is bundle:
            self._rest, self._todo[0] = None, (split, behind, self._skip)
        else:
            count = len(taken.values)
            self._rest, self._todo[0] = (
                (bundle.after(count), behind),
                (split, position, skip + count),
            )
        return taken

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

    def advance_processing_time(self, now: int) -> None:  # noqa: B027
        """Learn of processing time (ms), also while no elements come."""

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

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:  # noqa: B027
        """Learn that a checkpoint was given up; what was prepared for it goes with the next one."""

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

    def with_configuration(self, configuration: Mapping[str, str]) -> Sink:
        """Return this sink for a job, whose configuration says how it reaches its output."""
        return self

    def check_durable(self) -> None:  # noqa: B027 - most sinks prepare what stays
        """Raise if a checkpoint that outlives the driver could not be committed by another one.

        In the driver, before the first such checkpoint.

        Raises:
            CheckpointError: what is prepared goes with the driver's process.
        """

    def in_place(self, job: str, operator: str) -> Sink:
        """Return this sink for its place, of which both names stay from one run to the next.

        Args:
            job: the job's name.
            operator: the name under which checkpoints have what the sink prepares.
        """
        return self

    @property
    def claims(self) -> frozenset[str]:
        """What only one sink of a job may have, in words."""
        return frozenset()

    def take_over(self) -> None:  # noqa: B027 - most sinks share nothing with those before
        """Shut out whoever wrote before; in the driver, when an attempt begins that can commit.

        That is an earlier attempt, or the driver of an earlier run, which may still be there. What
        is to be committed again comes after.
        """

    def hold_back(self, committables: list[Any], checkpoint_id: int) -> tuple[list[Any], list[Any]]:
        """Return what to commit now, and what shall wait for a later checkpoint.

        In the driver, not at the end of the job. What waits comes again, before all that is new,
        with the next checkpoint. The same arguments have to have the same result.
        """
        return committables, []

    def commit(self, committables: list[Any]) -> None:  # noqa: B027
        """Make visible what all writers prepared; once, in the driver. Idempotent."""

    def commit_again(self, committables: list[Any]) -> None:
        """Make visible, after a failure, what was perhaps committed before."""
        self.commit(committables)

    keeps_snapshots: bool = False
    """Whether ``keep`` gets, behind what writers prepared, what their ``snapshot`` returned."""

    def keep(self, committables: list[Any]) -> None:  # noqa: B027 - most are kept anyhow
        """Remove nothing of what writers prepared, whatever fails: a savepoint has it, too.

        In the driver, for a savepoint of a job that goes on, and commits this with a checkpoint.
        """

    def abort(self, committables: list[Any]) -> None:  # noqa: B027
        """Throw away what writers prepared in a job that failed."""

    def job_ended(self) -> None:  # noqa: B027 - most sinks keep nothing open in the driver
        """Let go of what is open in the driver; once the job has ended, however."""
