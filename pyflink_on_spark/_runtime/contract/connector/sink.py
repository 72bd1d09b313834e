"""The contract of a sink: what runs in the driver, what runs in a worker, and when.

A ``Sink`` is a picklable description. Each subtask gets a pickled copy, and calls ``writer`` once.
A ``SinkWriter`` lives in one thread of one worker:

1. ``restore`` once, before the first element.
2. ``write`` again and again; ``advance_watermark`` and ``advance_processing_time`` in between.
3. At each checkpoint ``prepare_checkpoint``, directly followed by ``snapshot``. Then either
   ``notify_checkpoint_complete``, after the driver has committed, or
   ``notify_checkpoint_aborted``.
4. At the end of the input ``prepare_commit``. In a job with checkpoints a last checkpoint follows.
5. ``close`` once, also after a failure.

What ``prepare_checkpoint`` and ``prepare_commit`` return are *committables*: picklable objects that
describe elements which are written, but not visible yet. Committables are part of the checkpoint.
The driver makes them visible:

1. ``with_input_type`` while the program builds its graph; ``with_configuration``, then ``in_place``
   when the job is submitted. All three return a sink and do not change the sink that they are
   called on. ``claims`` is read after that, and two sinks of a job must not claim the same.
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

Committables pass through the memory of the driver. A writer whose committables contain the elements
themselves returns a ``LargeCommittable``: its content goes from the host to the folder of the
checkpoint, and the driver reads it in pieces. The content is removed with the checkpoint, so
``hold_back`` must not keep it for a later one.

**What may happen twice.** The driver can fail between a commit and its record of it. So
``commit_again`` may get committables that are visible already, and the same committables may come
to ``commit_again`` any number of times: both ``commit`` and ``commit_again`` are idempotent.
``hold_back`` returns the same result for the same arguments. ``commit`` alone is called once for
each committable of a run that does not fail.

A sink that writes when an element arrives has no committables. It delivers at least once if
``prepare_checkpoint`` waits until all elements are written: after a failure the elements since the
last checkpoint are written again::

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

from __future__ import annotations

import pickle
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector.source import Versioned
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


class SinkWriter(ABC):
    """Writes to a sink in one subtask. See the module for the contract."""

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
    """A picklable description of a sink. See the module for the contract."""

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
