"""The task of BATCH mode, and the environment of a worker."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from pyflink_on_spark._cluster.transport.result_channel import (
    ChannelAddress,
    ChannelClosed,
    ChannelFailed,
    Sender,
    connect,
)
from pyflink_on_spark._compat.import_hook import install, is_installed
from pyflink_on_spark._job.checkpoints.commits import Commits, CommitTimeoutError
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._options.own import COMMIT_TIMEOUT
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.plan import StagePlan
from pyflink_on_spark._runtime.diagnosis import (
    LOGS,
    FunctionLog,
    SubtaskFailure,
    install_function_log,
)
from pyflink_on_spark._runtime.elements.bundle import tune_garbage_collection
from pyflink_on_spark._runtime.elements.clock import SystemClock
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._runtime.task.stage import DRIVER, START, StageRunner
from pyflink_on_spark._runtime.user_code import in_use, install_classes
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext


PREPARED = "prepared"
"""The name of the channel through which tasks say what they have prepared."""
Row = tuple[tuple[int, int, int], Any]
"""A row between two stages: its subtask, its place on the channel and the channel; its payload."""
FAILURE_BEGINS, FAILURE_ENDS = "\u2063<subtask failure>", "</subtask failure>\u2063"
late_variables: dict[str, str] = {}
"""Environment variables that the driver got after Spark had begun; workers do not inherit them."""
_frozen_with = 0  # so many modules were loaded when objects were frozen


class PreparedCommits:
    """Collects what tasks have prepared, and ends with a commit or an abort.

    Tasks say it at once, since what they return is lost if another task fails.

    Args:
        sinks: the job's sinks by number.
        configuration: of the job; it may limit how long a commit takes.
        note: takes the commit that is awaited, and None at its end.
    """

    def __init__(
        self,
        sinks: Mapping[int, Sink],
        configuration: Mapping[str, str],
        note: Callable[[str | None], None] | None = None,
    ) -> None:
        limit = COMMIT_TIMEOUT.read(configuration) / 1000
        self._commits = Commits(sinks, limit, of_checkpoints=False, note=note)
        self._told: set[bytes] = set()
        self._aborted = False
        self._lock = threading.Lock()

    def add(self, payloads: Iterable[bytes]) -> None:
        """Note the committables of tasks; after an abort they are removed at once."""
        with self._lock:
            self._told.update(payloads)
            if self._aborted:
                self._throw_away()

    def commit(self, payloads: Iterable[bytes]) -> None:
        """Make visible what the tasks of the job returned; what others prepared is thrown away.

        Raises:
            CommitTimeoutError: a sink has not committed in time. It may still do so, hence what
                the tasks returned stays.
        """
        wanted = list(payloads)
        with self._lock:
            self._commits.checkpoint_complete(_unsealed(wanted), 0, final=True)
            try:
                self._commits.commit()
            except CommitTimeoutError:
                self._told.difference_update(wanted)
                raise
            self._told.difference_update(wanted)
            self._throw_away()

    def abort(self) -> None:
        """Throw everything away."""
        with self._lock:
            self._aborted = True
            self._throw_away()

    def _throw_away(self) -> None:
        told, self._told = self._told, set()
        self._commits.abort(thing for payload in told for thing in deserialize(payload))


def _unsealed(payloads: Iterable[bytes]) -> Iterator[tuple[int, object]]:
    for payload in payloads:
        yield from deserialize(payload)


@dataclass(frozen=True)
class StageFunction:
    """Runs one stage of a job in a worker; what Spark calls for each partition.

    Args:
        plan: the pickled StagePlan and JobSettings.
        number: which stage it is.
        attempt: how often the job was restarted.
        environment: of the user's functions.
        address: how to reach the driver.
        channels: the driver's name of each channel.
    """

    plan: bytes
    number: int
    attempt: int
    environment: WorkerEnvironment
    address: ChannelAddress
    channels: dict[str, str]

    def __call__(self, rows: Iterable[object]) -> Iterator[Row]:
        """Turn the rows of one partition into those that leave it.

        Args:
            rows: for the first stage the numbers of its subtasks.
        """
        with self.environment.active():
            try:
                for row in self._run(rows):
                    yield (row.subtask_id, row.seq, row.channel), row.payload
            except SubtaskFailure as failure:
                if isinstance(failure.__cause__, ChannelClosed):
                    return  # the driver reads no more: it has cancelled the job
                raise SubtaskFailure(f"{FAILURE_BEGINS}{failure}{FAILURE_ENDS}") from None
            except ChannelClosed:
                return

    def _run(self, rows: Iterable[Any]) -> Iterator[ChannelRow]:
        stage, job = pickle.loads(self.plan)
        install_classes(job.classes)
        log = install_function_log(job.configuration)
        senders: list[Sender] = []
        runner = StageRunner(
            stage, self.number, job, SystemClock(), self._drivers(senders), self.attempt
        )
        given = _start_rows(rows) if self.number == 0 else _channel_rows(rows)
        try:
            yield from self._announced(runner.run(given))
            while senders:
                senders.pop().close()
        except SubtaskFailure:
            _deliver(senders)
            raise
        finally:
            for sender in senders:
                sender.abandon()
            self._send_log(log)

    def _send_log(self, log: FunctionLog) -> None:
        """Send what functions have logged to the driver, which may want no more."""
        entries = log.take()
        if not entries:
            return
        with (
            contextlib.suppress(ChannelClosed, ChannelFailed),
            connect(self.address, self.channels[LOGS], uuid.uuid4().hex) as sender,
        ):
            sender.send(entries)

    def _announced(self, rows: Iterator[ChannelRow]) -> Iterator[ChannelRow]:
        """Send prepared committables to the driver at once: if the job fails, no row reaches it."""
        for row in rows:
            if row.subtask_id == DRIVER:
                with connect(self.address, self.channels[PREPARED], uuid.uuid4().hex) as sender:
                    sender.send([row.payload])
            yield row

    def _drivers(
        self, senders: list[Sender]
    ) -> Callable[[int], Callable[[str], Callable[[list[Any]], None]]]:
        def of_subtask(subtask_id: int) -> Callable[[str], Callable[[list[Any]], None]]:
            def of_channel(channel: str) -> Callable[[list[Any]], None]:
                producer = f"{subtask_id}#{self.attempt}"
                sender = connect(self.address, self.channels[channel], producer)
                senders.append(sender)
                return sender.send

            return of_channel

        return of_subtask


def _deliver(senders: list[Sender]) -> None:
    """Send the driver the output that a subtask printed before it failed."""
    for sender in senders:
        with contextlib.suppress(ChannelClosed, ChannelFailed):
            sender.flush()


def _start_rows(subtask_ids: Iterable[int]) -> Iterator[ChannelRow]:
    for subtask_id in subtask_ids:
        yield ChannelRow(subtask_id, START, 0, b"")


def _channel_rows(rows: Iterable[Row]) -> Iterator[ChannelRow]:
    for (subtask_id, seq, channel), payload in rows:
        yield ChannelRow(subtask_id, channel, seq, payload)


def run_stages(
    context: SparkContext,
    job: Job,
    address: ChannelAddress,
    attempt: int,
    dependencies: ShippedDependencies,
) -> RDD[Row]:
    """Return the rows that the last stage leaves for the driver; nothing runs before an action.

    Args:
        context: where the stages run.
        job: the job.
        address: how workers reach the driver.
        attempt: how often the job was restarted.
        dependencies: what the workers import from.
    """
    count = _subtasks_of(job.stages[0])
    rows: RDD[Any] = context.parallelize(range(count), count)
    for number, stage in enumerate(job.stages):
        if number > 0:
            rows = _exchanged(rows, stage)
        function = StageFunction(
            plan=pickle.dumps((stage, job.settings), 5),
            number=number,
            attempt=attempt,
            environment=WorkerEnvironment.of_driver(dependencies),
            address=address,
            channels={name: driver_channel(job, name) for name in (*channel_names(job), PREPARED)},
        )
        rows = rows.mapPartitions(function.__call__)
    return rows


def channel_names(job: Job) -> Iterable[str]:
    """Return the names of the channels through which a job's subtasks send to the driver."""
    return [*job.printers, *([job.collected] if job.collected else [])]


def driver_channel(job: Job, name: str) -> str:
    """Return the name that a job's channel has in the driver, where other jobs have theirs."""
    return f"{job.settings.job_id}/{name}"


def _exchanged(rows: RDD[Row], stage: StagePlan) -> RDD[Row]:
    """Bring each subtask's rows into a partition of their own, in the order of their channels."""
    first = min(vertex.first_subtask_id for vertex in stage.vertices)
    return rows.repartitionAndSortWithinPartitions(_subtasks_of(stage), lambda key: key[0] - first)


def _subtasks_of(stage: StagePlan) -> int:
    return sum(vertex.parallelism for vertex in stage.vertices)


def freeze_modules() -> None:
    """Take the objects that live already out of Python's search for cycles.

    PySpark's workers collect garbage after each task. So what lives when a task begins are mostly
    modules, which need no search.
    """
    global _frozen_with  # noqa: PLW0603 - of the process
    if len(sys.modules) > _frozen_with:
        gc.freeze()
        _frozen_with = len(sys.modules)


@contextlib.contextmanager
def refused_exit() -> Iterator[None]:
    """Let ``os._exit`` raise SystemExit, so that the job's error says who called it.

    Processes that a function forks end as they want.
    """
    leave, worker = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() == worker:
            raise SystemExit(f"os._exit({status}) was called, which would end the worker process")
        leave(status)

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = leave


@dataclass(frozen=True)
class WorkerEnvironment:
    """The environment of a job's functions; travels inside a task.

    Args:
        sys_path: where the driver finds modules.
        aliased: whether ``pyflink`` is this package in the driver.
        dependencies: what the job takes along.
        variables: environment variables that workers do not inherit.
    """

    sys_path: tuple[str, ...]
    aliased: bool
    dependencies: ShippedDependencies
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_driver(cls, dependencies: ShippedDependencies) -> WorkerEnvironment:
        """Return the environment of this process, for its workers."""
        return cls(tuple(sys.path), is_installed(), dependencies, dict(late_variables))

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Set up the environment, and undo afterwards as much as possible."""
        tune_garbage_collection()
        freeze_modules()
        os.environ.update(self.variables)
        for folder in self.sys_path:
            if folder not in sys.path:
                sys.path.append(folder)
        if self.aliased:
            install()
        with in_use(self.dependencies.here()), refused_exit():
            yield
