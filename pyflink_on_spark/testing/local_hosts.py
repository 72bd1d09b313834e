"""All subtasks of an attempt in this process, with what they share."""

from __future__ import annotations

import itertools
import pickle
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._job.attempts.restarts import SplitDistribution
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore, restored_states
from pyflink_on_spark._runtime.checkpoints.slot_state import DRIVER, TaskStateSnapshot
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE, SnapshotWriter
from pyflink_on_spark._runtime.contract.plan import JobSettings, StagePlan
from pyflink_on_spark._runtime.elements.clock import Clock
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.task.group_checkpoints import SnapshotRequest
from pyflink_on_spark._runtime.task.schedule import Schedule
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark._runtime.task.subtask_builder import DriverChannels
from pyflink_on_spark._runtime.task.subtask_group import SubtaskGroup
from pyflink_on_spark._runtime.task.subtask_threads import SubtaskThreads, thread_usage

_SLICE_SECONDS = 0.01
_numbers = itertools.count()
_known: weakref.WeakValueDictionary[int, SameProcess] = weakref.WeakValueDictionary()


class LocalHosts:
    """One host with all slots of a job; see ``Hosts``.

    What would cross a process on Spark goes through pickle here, too.

    Args:
        stages: what runs.
        settings: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a channel's name, what sends to the driver.
        attempt: how often the job was restarted.
        restore: the checkpoint to begin with.
        subtask: the class of the subtasks.
        schedule: says which subtask works next.
        check: called between two slices of work; what it raises ends the attempt.
        now: the time in seconds; any clock that never goes back.
        threads: those of parts whose functions wait; None for real ones.
    """

    def __init__(
        self,
        stages: Sequence[StagePlan],
        settings: JobSettings,
        clock: Clock,
        driver: DriverChannels,
        attempt: int = 0,
        restore: Restore | None = None,
        subtask: type[Subtask] = Subtask,
        schedule: Schedule | None = None,
        check: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.monotonic,
        threads: SubtaskThreads | None = None,
    ) -> None:
        self._splits = SplitDistribution(
            stages, restore, settings.configuration, self._deliver, clock
        )
        self._asked: deque[tuple[int, int, int]] = deque()
        self.halts = False
        """True if nothing is read after a checkpoint."""
        self._configuration = settings.configuration
        self._check, self._now = check, now
        slots = range(max(v.parallelism for stage in stages for v in stage.vertices))
        restored = None
        if restore is not None:
            restored = restored_states(restore, stages, slots, settings.configuration)
        self.group = SubtaskGroup(
            stages,
            slots,
            pickle.loads(pickle.dumps(settings)),
            clock,
            lambda _: driver,
            attempt,
            restored,
            pickled=True,
            subtask=subtask,
            schedule=schedule,
            now=now,
            ask=self._ask,
            usage=thread_usage() if now is time.monotonic else None,
            threads=threads or SubtaskThreads(),
        )

    def turn(self) -> bool:
        """Do some work; tell whether there was any."""
        self._check()
        while True:
            self.hand_out_splits()
            worked = self.group.turn(self._now() + _SLICE_SECONDS)
            if worked or not self._asked:
                return worked

    def hand_out_splits(self) -> None:
        """Do the driver's part for sources whose readers ask for splits."""
        self._splits.search()
        while self._asked:
            self._splits.request(*self._asked.popleft())

    def _ask(self, subtask_id: int, chain: int, count: int) -> None:
        self._asked.append((subtask_id, chain, count))

    def _deliver(
        self, subtask_id: int, chain: int, splits: Sequence[Any], *, at_once: bool
    ) -> None:
        travelled = deserialize(serialize(list(splits)))
        self.group.add_splits(subtask_id, chain, travelled, at_once=at_once)

    def snapshot(
        self,
        checkpoint_id: int,
        where: str | None,
        contents: str = WHOLE,
        *,
        halt: bool = False,
        timeout: float | None = None,
    ) -> dict[int, HostSnapshot]:
        """Take a checkpoint; it is through when this returns, so no timeout counts."""
        writer = SnapshotWriter(checkpoint_id, where, contents, 0, self._configuration)
        request = SnapshotRequest(checkpoint_id, writer.write, writer.taken, halt or self.halts)
        try:
            self.group.flush()
            with self._splits.checkpoint() as positions:
                if positions:
                    writer.write(DRIVER, TaskStateSnapshot(checkpoint_id, sources=positions))
                self.group.begin_checkpoint(request)
            while not request.done:
                self.turn()
            if request.error is not None:
                raise request.error
            state, prepared = writer.finish(self.group.prepared)
            return {0: HostSnapshot(state, _travelled(prepared))}
        except BaseException as error:
            writer.abandon(error)
            self.group.abort_checkpoint(checkpoint_id)
            raise

    def committables(self) -> list[Any]:
        """Return, once, what sinks have prepared: pairs of a sink's number and a thing."""
        return _travelled(self.group.committables())

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint is complete."""
        self.group.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint was aborted."""
        self.group.notify_checkpoint_aborted(checkpoint_id)

    def end_sources(self) -> None:
        """Let all sources end."""
        self.group.end_sources()


def _travelled(things: list[Any]) -> list[object]:
    return [deserialize(serialize(thing)) for thing in things]


class SameProcess:
    """An object that a pickle refers to instead of copying it.

    So a function under test, which is pickled on its way into the job, and the test itself hold one
    and the same object. The reference is of use in this process only, as long as the object lives.
    """

    def __init__(self) -> None:
        self._number = next(_numbers)
        _known[self._number] = self

    def __reduce__(self) -> tuple[object, ...]:
        return _recall, (self._number, type(self).__name__)

    def __deepcopy__(self, memo: object) -> SameProcess:
        return self


def _recall(number: int, name: str) -> SameProcess:
    try:
        return _known[number]
    except KeyError:
        raise LookupError(
            f"this {name} is gone, or belongs to another process: use it in-process only"
        ) from None
