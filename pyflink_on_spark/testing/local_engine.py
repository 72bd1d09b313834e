"""An engine that runs jobs in this process, and such a job.

Everything that would cross a process on Spark goes through pickle here, too.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import pickle
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import CheckpointError, JobCancelledError, JobExecutionError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import keyed_operators, state_settings
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.job import Job, install_engine, installed_engine
from pyflink_on_spark._job.restarts import (
    AttemptControl,
    NoRestart,
    SavepointRequest,
    SavepointRequests,
    SplitDistribution,
    check_may_be_saved,
    check_may_restart,
    names_restart_strategy,
    nothing_to_save,
    restart_strategy,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore, restored_states
from pyflink_on_spark._runtime.checkpoints.slot_state import DRIVER, TaskStateSnapshot
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE, SnapshotWriter
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, SplitEnumerator
from pyflink_on_spark._runtime.contract.operator import OperatorContext
from pyflink_on_spark._runtime.contract.plan import (
    JobSettings,
    OperatorChainPlan,
    StagePlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.diagnosis import Interruption, SubtaskFailure, gist_of
from pyflink_on_spark._runtime.elements.bundle import (
    Bundle,
    ChannelStatus,
    Watermark,
    tune_garbage_collection,
)
from pyflink_on_spark._runtime.elements.immutability import deserialize, deserialize_all, serialize
from pyflink_on_spark._runtime.elements.time import Clock, SystemClock
from pyflink_on_spark._runtime.task.barriers import SnapshotRequest
from pyflink_on_spark._runtime.task.operator_chain import with_key_groups
from pyflink_on_spark._runtime.task.schedule import Schedule
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark._runtime.task.subtask_group import SubtaskGroup
from pyflink_on_spark._runtime.task.subtask_threads import SubtaskThreads, thread_usage
from pyflink_on_spark._runtime.user_code import (
    DependencyFolder,
    PythonDependencies,
    in_use,
    lay_out,
)
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.common.job_execution_result import JobOutcome

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import DriverChannels, SendItems


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
        self, subtask_id: int, chain: int, splits: Sequence[object], *, at_once: bool
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


_NOTHING_TO_READ_SECONDS = 0.01


@dataclass(frozen=True)
class CheckpointRule:
    """The points at which a test takes checkpoints.

    Args:
        each_turn: whether a job with checkpoints takes one whenever its sources have handed over
            something, and not by the clock.
        restart: whether the job continues in new instances after each checkpoint, with nothing but
            what is in it.
    """

    each_turn: bool = False
    restart: bool = False


def job_dependencies(configuration: Mapping[str, str]) -> list[DependencyFolder]:
    """Lay out what a configuration names, in a temporary folder of this process.

    Raises:
        FileNotFoundError: if something that is named does not exist.
        EnvironmentSetupError: if pip fails, or an archive cannot be read.
    """
    dependencies = PythonDependencies.of(configuration)
    if dependencies == PythonDependencies():
        return []
    return lay_out(dependencies, Path(_folder().name), sys.executable)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="pyflink-on-spark-")


_BY_THE_CLOCK = CheckpointRule()


class LocalJob:
    """A job in this process: in the calling thread, in one of its own, or as a lazy iterator.

    Args:
        job: what runs.
        clock: processing time.
        rule: when it takes checkpoints, if it does at all.
    """

    def __init__(self, job: Job, clock: Clock, rule: CheckpointRule = _BY_THE_CLOCK) -> None:
        self._job, self._clock, self._rule = with_state(job), clock, rule
        self.job_id = job.settings.job_id
        self._collected: list[object] = []
        self._error: Exception | None = None
        self._status = JobStatus.CREATED
        self._runtime = 0
        self._cancellation = Cancellation()
        named = names_restart_strategy(job.settings.configuration)
        self._restarts = restart_strategy(job.settings) if named else NoRestart()
        self._changed = threading.Condition()
        self._idle_turns = 0
        self._thread: threading.Thread | None = None
        self._requests = SavepointRequests()
        self._coordinator = CheckpointCoordinator.of(job, clock)

    def run(self) -> None:
        """Run to the end in the calling thread."""
        for _ in self._turns():
            pass

    def start(self) -> None:
        """Run in a thread of its own."""
        self._status = JobStatus.RUNNING
        self._thread = threading.Thread(target=self.run, name=f"job-{self.job_id}", daemon=True)
        self._thread.start()

    def status(self) -> JobStatus:
        """Return how far the job has come."""
        return self._status

    def accumulators(self) -> dict[str, object]:
        """Return the accumulators."""
        return self._job.accumulators.results()

    def result(self) -> JobOutcome:
        """Wait for the end; return the result, or raise the job's error."""
        self._join()
        if self._error is not None:
            raise self._error
        return JobOutcome(self.job_id, self._runtime, self.accumulators())

    def collected(self) -> Iterator[object]:
        """Run the job as far as its elements are asked for; closing it ends the job."""
        turns = self._turns()
        try:
            for _ in turns:
                yield from self._take_collected()
            yield from self._take_collected()
        finally:
            turns.close()
        self.result()

    def cancel(self) -> None:
        """End the job between two elements, and wait until it has ended."""
        self._cancellation.cancel()
        self._join()

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until all input so far has been processed.

        Raises:
            TimeoutError: if that is not so after some seconds.
        """
        with self._changed:
            enough = self._idle_turns + 2  # the turn that is under way may have missed something
            if not self._changed.wait_for(
                lambda: self._idle_turns >= enough or self._over, seconds
            ):
                raise TimeoutError(f"the job {self._job.name!r} is still busy after {seconds} s")

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint while the job runs in a thread of its own; return its path."""
        check_may_be_saved(self._job, "trigger_savepoint()")
        return self._request(SavepointRequest(savepoint_directory))

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Write a savepoint and end the job; return the savepoint's path."""
        check_may_be_saved(self._job, "stop_with_savepoint()")
        request = SavepointRequest(
            savepoint_directory, stop=True, drain=advance_to_end_of_event_time
        )
        path = self._request(request)
        self._join()
        return path

    @property
    def in_background(self) -> bool:
        """True if the job has a thread of its own."""
        return self._thread is not None

    @property
    def _over(self) -> bool:
        return self._status in {JobStatus.FINISHED, JobStatus.FAILED, JobStatus.CANCELED}

    def _request(self, request: SavepointRequest) -> str:
        self._requests.append(request)
        while not self._over and not request.path.done():
            wait([request.path], 0.05)
        if not request.path.done():
            raise CheckpointError(f"the job is {self._status.name}: it has no state to save")
        return request.path.result()

    def _join(self) -> None:
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(1.0)  # short waits let Ctrl-C through

    def _take_collected(self) -> list[object]:
        taken, self._collected[:] = self._collected[:], []
        return taken

    def _turns(self) -> Generator[None, None, None]:
        """Run the job; yields between turns. Its end, whatever it is, is in the status."""
        started = time.monotonic()
        self._status = JobStatus.RUNNING
        status = JobStatus.CANCELED  # unless it comes to an end of its own
        try:
            with in_use(job_dependencies(self._job.settings.configuration)):
                self._coordinator.restore_given()
                counts = self._coordinator.key_groups
                self._job = replace(self._job, stages=with_key_groups(self._job.stages, counts))
                yield from self._attempts()
            status = JobStatus.FINISHED
        except Cancelled:
            self._error = JobCancelledError("Job was cancelled.")
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            status, self._error = JobStatus.FAILED, _as_job_error(error)
        finally:
            self._clean_up(status)
            self._runtime = int((time.monotonic() - started) * 1000)
            with self._changed:
                self._status = status
                self._changed.notify_all()

    def _clean_up(self, status: JobStatus) -> None:
        with contextlib.suppress(Exception):  # the job's own error is the one to raise
            if status is JobStatus.FINISHED:
                self._coordinator.job_finished()
            elif status is JobStatus.CANCELED:
                self._coordinator.job_cancelled()
            else:
                self._coordinator.job_failed()
        with contextlib.suppress(Exception):
            self._job.ended(self._coordinator.resumable)

    def _attempts(self) -> Iterator[None]:
        """Run the job until it succeeds, or the restart strategy allows no restart."""
        attempt = 0
        while True:
            try:
                if attempt > 0:
                    self._job.begins_again()
                self._coordinator.attempt_begins()
                yield from self._attempt(attempt)
                return
            except Exception as error:
                if self._coordinator.over:
                    raise  # another attempt would repeat what is committed
                self._wait_for_restart(error)
            attempt += 1

    def _wait_for_restart(self, error: Exception) -> None:
        """Wait as the restart strategy says; raise the error if it allows no restart."""
        delay = self._restarts.delay(self._clock.now())
        if delay is None:
            raise error
        failure = _as_job_error(error)
        check_may_restart(self._job, failure)
        self._status = JobStatus.RESTARTING
        with self._requests.refused(nothing_to_save(self._job, gist_of(str(failure)), delay)):
            self._cancellation.wait(delay / 1000)
        self._cancellation.check()
        self._status = JobStatus.RUNNING

    def _attempt(self, number: int) -> Iterator[None]:
        hosts = self._hosts(number)
        control = AttemptControl(self._coordinator, hosts, self._requests)
        try:
            hosts.group.open()
            while not control.ended:
                worked = hosts.turn()
                self._job.maintain_sources(self._coordinator.oldest_checkpoint)
                wanted = worked and self._rule.each_turn and self._job.settings.checkpointed
                before = self._coordinator.last_checkpoint
                hosts.halts = self._rule.restart
                control.run_pending(hosts.group.ended, wanted or hosts.group.paused)
                again = hosts.halts and before != self._coordinator.last_checkpoint
                if again and not control.ended:
                    hosts.group.close(failed=True)
                    hosts = self._hosts(number)
                    hosts.group.open()
                    control = AttemptControl(self._coordinator, hosts, self._requests)
                yield
                if not worked and not control.ended:
                    self._rest()
        except BaseException as error:
            control.failed(error if isinstance(error, Exception) else Cancelled())
            hosts.group.close(failed=True)
            self._coordinator.abort(_prepared(hosts))
            raise
        hosts.group.close()

    def _hosts(self, attempt: int) -> LocalHosts:
        return LocalHosts(
            cancellable(self._job.stages, self._cancellation),
            self._job.settings,
            self._clock,
            self._driver,
            attempt,
            self._coordinator.restore,
            check=self._cancellation.check,
        )

    def _rest(self) -> None:
        """Let others work; then look again whether a source has something."""
        with self._changed:
            self._idle_turns += 1
            self._changed.notify_all()
        self._cancellation.wait(_NOTHING_TO_READ_SECONDS)

    def _driver(self, channel: str) -> SendItems:
        if channel == self._job.collected:
            return lambda things: self._collected.extend(deserialize_all(things))
        return self._job.printers[channel]


def with_state(job: Job) -> Job:
    """Return a job whose settings have what its configuration says of keyed state."""
    state = state_settings(job.settings.configuration, keyed_operators(job.stages, 0))
    return replace(job, settings=replace(job.settings, state=state))


def _prepared(hosts: LocalHosts) -> list[tuple[int, object]]:
    try:
        return hosts.committables()
    except Exception:  # noqa: BLE001 - the failure that brought us here is the one to raise
        return []


def _as_job_error(failure: Exception) -> Exception:
    """Return the error that a program gets; its cause is the user's own exception."""
    if not isinstance(failure, SubtaskFailure):
        return failure
    error = JobExecutionError(str(failure))
    cause: BaseException | None = failure
    seen = set()
    while isinstance(cause, SubtaskFailure) and id(cause) not in seen:
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    error.__cause__ = cause if not isinstance(cause, SubtaskFailure) else None
    return error


class Cancelled(Interruption):
    """Goes through everything up to the job; no ``except Exception`` may hold it up."""


class Cancellation(SameProcess):
    """The cancellation of a job."""

    def __init__(self) -> None:
        super().__init__()
        self._event = threading.Event()
        self._drawn: weakref.WeakValueDictionary[int, _Watched] = weakref.WeakValueDictionary()

    def cancel(self) -> None:
        """Ask the job to end."""
        self._event.set()
        for reference in self._drawn.valuerefs():
            elements = reference()
            if elements is not None:
                elements.clear()

    def empty_when_cancelled(self, elements: _Watched) -> None:
        """Remove all elements of a list as soon as the job is cancelled.

        Raises:
            Cancelled: if it was.
        """
        self._drawn[id(elements)] = elements
        self.check()

    def __bool__(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise if the job was cancelled.

        Raises:
            Cancelled: if it was.
        """
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Wait some time, or until the job is cancelled."""
        self._event.wait(seconds)


def cancellable(stages: Sequence[StagePlan], cancellation: Cancellation) -> list[StagePlan]:
    """Return a job's stages with sources that stop between two elements."""

    def chain(plan: OperatorChainPlan) -> OperatorChainPlan:
        if plan.source is None:
            return plan
        return replace(plan, source=_CancellableSource(plan.source, cancellation))

    def vertex(plan: VertexPlan) -> VertexPlan:
        return replace(plan, chains=tuple(map(chain, plan.chains)))

    return [StagePlan(tuple(map(vertex, stage.vertices))) for stage in stages]


class _CancellableSource(Source):
    def __init__(self, source: Source, cancellation: Cancellation) -> None:
        self._source, self._cancellation = source, cancellation
        self.asked = source.asked

    def splits(self, parallelism: int) -> list[object]:
        return self._source.splits(parallelism)

    def enumerator(self, restored: Sequence[object] | None) -> SplitEnumerator:
        return self._source.enumerator(restored)

    def reader(
        self, splits: Sequence[object], restored: Sequence[object] | None, context: OperatorContext
    ) -> SourceReader:
        reader = self._source.reader(splits, restored, context)
        return _CancellableReader(reader, self._cancellation)


class _CancellableReader(SourceReader):
    def __init__(self, reader: SourceReader, cancellation: Cancellation) -> None:
        self._reader, self._cancellation = reader, cancellation

    @property
    def ended(self) -> bool:  # type: ignore[override]
        return self._reader.ended

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        self._reader.limit = self.limit
        event = self._reader.poll()
        if isinstance(event, Bundle):
            values = _Watched(event.values, self._cancellation)
            return Bundle(values, event.timestamps, event.keys)
        return event

    def splits_wanted(self) -> int:
        return self._reader.splits_wanted()

    def add_splits(self, splits: Sequence[object], *, at_once: bool) -> None:
        self._reader.add_splits(splits, at_once=at_once)

    def stop(self) -> bool:
        return self._reader.stop()

    def backlog(self) -> int | None:
        return self._reader.backlog()

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        self._reader.prepare_checkpoint(checkpoint_id)

    def snapshot(self) -> list[object]:
        return self._reader.snapshot()

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._reader.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        self._reader.notify_checkpoint_aborted(checkpoint_id)

    def close(self) -> None:
        self._reader.close()


class _Watched(list[object]):
    """Elements that come to an end when the job is cancelled; so do slices of them.

    A look at the cancellation before each element would take longer than a small function. So the
    cancellation empties the lists whose elements are being drawn.
    """

    def __init__(self, values: Iterable[object], cancellation: Cancellation) -> None:
        super().__init__(values)
        self._cancellation = cancellation

    def __iter__(self) -> Iterator[object]:
        self._cancellation.empty_when_cancelled(self)
        return chain(super().__iter__(), self._end())

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return _Watched(found, self._cancellation) if isinstance(index, slice) else found

    def _end(self) -> Iterator[object]:
        self._cancellation.check()
        yield from ()


class LocalEngine:
    """Runs jobs in this process.

    ``execute`` runs a job in the calling thread, so that breakpoints in user functions work;
    ``execute_async`` in a thread of its own; ``execute_and_collect`` in the thread that asks for
    elements, as far as it asks.

    Args:
        clock: processing time; the machine's if not given.
        checkpoint_each_turn: whether jobs with checkpoints take one whenever their sources have
            handed over something, instead of by the clock.
        restart_each_checkpoint: whether such jobs restore each checkpoint in new instances of all
            functions.

    Example:
        >>> with local_engine():
        ...     env = StreamExecutionEnvironment.get_execution_environment()
        ...     list(env.from_collection([1, 2]).map(lambda value: value + 1).execute_and_collect())
        [2, 3]
    """

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        checkpoint_each_turn: bool = False,
        restart_each_checkpoint: bool = False,
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self._rule = CheckpointRule(checkpoint_each_turn, restart_each_checkpoint)
        self._jobs: weakref.WeakSet[LocalJob] = weakref.WeakSet()

    def submit(self, job: Job) -> LocalJob:
        """Begin a job; a failure shows when its result is asked for."""
        handle = LocalJob(job, self.clock, self._rule)
        self._jobs.add(handle)
        if job.attached:
            handle.run()
        elif job.collected is None:
            handle.start()
        return handle

    def wait_until_idle(self, seconds: float = 10.0) -> None:
        """Wait until all jobs of ``execute_async`` have processed all input so far.

        Args:
            seconds: how long at most.

        Raises:
            TimeoutError: if one of them is still busy then.
        """
        for job in list(self._jobs):
            if job.in_background:
                job.wait_until_idle(seconds)

    def cancel_jobs(self) -> None:
        """End all jobs of ``execute_async`` that still run."""
        for job in list(self._jobs):
            job.cancel()


def install_local_engine(
    clock: Clock | None = None,
    *,
    checkpoint_each_turn: bool = False,
    restart_each_checkpoint: bool = False,
) -> LocalEngine:
    """Make ``execute`` run jobs in this process from now on.

    Python searches this process for cycles of objects less often, as it does on Spark. For the
    arguments see LocalEngine.
    """
    tune_garbage_collection()
    engine = LocalEngine(
        clock,
        checkpoint_each_turn=checkpoint_each_turn,
        restart_each_checkpoint=restart_each_checkpoint,
    )
    install_engine(engine)
    return engine


@contextlib.contextmanager
def local_engine(
    clock: Clock | None = None,
    *,
    checkpoint_each_turn: bool = False,
    restart_each_checkpoint: bool = False,
) -> Iterator[LocalEngine]:
    """Run jobs in this process inside a ``with`` statement, and as before after it.

    Jobs that still run at its end are cancelled. For the arguments see LocalEngine.
    """
    before, thresholds = installed_engine(), gc.get_threshold()
    engine = install_local_engine(
        clock,
        checkpoint_each_turn=checkpoint_each_turn,
        restart_each_checkpoint=restart_each_checkpoint,
    )
    try:
        yield engine
    finally:
        install_engine(before)
        engine.cancel_jobs()
        gc.set_threshold(*thresholds)
