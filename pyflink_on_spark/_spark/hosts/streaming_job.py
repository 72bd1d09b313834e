"""A job with STREAMING semantics on hosts, and the query of long-running tasks that host it."""

from __future__ import annotations

import contextlib
import itertools
import logging
import pickle
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from multiprocessing import AuthenticationError
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from pyflink_on_spark._cluster.hosts.host import Deployment, Host, slots_of
from pyflink_on_spark._cluster.hosts.pool import HostPool
from pyflink_on_spark._cluster.transport.handshake import (
    Address,
    HostLost,
    NetworkSettings,
    connect,
)
from pyflink_on_spark._cluster.transport.result_channel import ResultServer
from pyflink_on_spark._compat.errors import CheckpointError, JobCancelledError, JobExecutionError
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import (
    AttemptControl,
    SavepointRequest,
    SplitDistribution,
)
from pyflink_on_spark._runtime.task.operator_chain import with_key_groups
from pyflink_on_spark._runtime.task.stacks import Samples
from pyflink_on_spark._spark.hosts.rdd_job import GivesServer
from pyflink_on_spark._spark.jobs.running_job import (
    channel_names,
    description_of,
    driver_channel,
    lost_worker,
)
from pyflink_on_spark._spark.jobs.stateful_job import StatefulJob
from pyflink_on_spark._spark.jobs.worker_environment import (
    WorkerEnvironment,
    call_after_task,
    freeze_modules,
)
from pyflink_on_spark._spark.session.session import why_gone
from pyflink_on_spark._spark.session.spark_defaults import scratch_subfolder
from pyflink_on_spark._spark.session.task_slots import driver_endpoint, has_room, hosts_for
from pyflink_on_spark.common import JobStatus

_log = logging.getLogger("pyflink_on_spark")
_LOOK_SECONDS = 0.2
_END_SECONDS = 3.0
_REASON_SECONDS = 1.0
_numbers = itertools.count()


class StreamingJob(StatefulJob):
    """A job whose subtasks live in hosts, started again when it fails.

    Args:
        job: what to run.
        server: gives what hosts send results to, on one of some ports.
    """

    _runs_at_once = False

    def __init__(self, job: Job, server: GivesServer) -> None:
        super().__init__(job)
        self._get_server = server
        self._network = NetworkSettings.of(job.settings.configuration)
        self._hosts = 0
        self._number = 0
        self._pool: HostPool | None = None
        self._coordinator = CheckpointCoordinator.of(job, self._clock)

    def start(self) -> None:
        """Find a session, open the channels, begin.

        Raises:
            CheckpointError: if the checkpoint to begin with does not fit, or none can be written.
            EnvironmentSetupError: if there is no session, or what the job takes along is not there.
        """
        self._coordinator.probe()
        self._coordinator.restore_given()
        counts = self._coordinator.key_groups
        self._job = replace(self._job, stages=with_key_groups(self._job.stages, counts))
        super().start()

    def _desk(self) -> ResultServer:
        self._server = self._get_server(self._session, self._network.driver_ports)
        return self._server

    def _told(self, error: BaseException) -> JobExecutionError:
        if isinstance(error, HostLost):
            text = lost_worker(self._job.name, self._task_names())
            return JobExecutionError(f"{text} ({error})")
        return super()._told(error)

    def trigger_checkpoint(self) -> str:
        """Write a checkpoint of a running job now; return its number.

        Raises:
            CheckpointError: the job has no checkpoints, or this one cannot be written.
        """
        if not self._job.settings.checkpointed:
            raise CheckpointError("without execution.checkpointing.interval there are none")
        return self._request(SavepointRequest(None, checkpoint=True))

    def sample_stacks(self, samples: int, pause: float) -> list[Samples]:
        """Look at the threads of the present attempt's hosts.

        Args:
            samples: how often.
            pause: the time between two samples, in s.
        """
        pool = self._pool
        return [] if pool is None else pool.sample(samples, pause)

    def _run(self) -> None:
        self._attempts()
        with contextlib.suppress(OSError):
            self._coordinator.job_finished()

    def _note_progress(self) -> None:
        pool = self._pool
        if pool is not None:
            parts = pool.progress()
            self._progress.update(self._number, self._coordinator.last_checkpoint, parts)

    @property
    def _resumable(self) -> bool:
        return self._coordinator.resumable

    def _attempt(self, number: int) -> None:
        self._coordinator.attempt_begins()
        self._progress.attempt_begins()
        self._number = number
        _Attempt(self, number).run()

    def _wait_for_restart(self, error: BaseException) -> None:
        if self._coordinator.over:
            raise error  # another attempt would do again what is committed
        super()._wait_for_restart(error)

    def _clean_up(self) -> None:
        if self._interrupted or self._spark_gone:
            self._coordinator.job_interrupted()
        elif self._cancelled.is_set():
            self._coordinator.job_cancelled()
        else:
            self._coordinator.job_failed()


class _Attempt:
    """One run of a job, from a fresh start or a checkpoint, to its end or a failure."""

    def __init__(self, owner: StreamingJob, number: int) -> None:
        self._owner, self._number = owner, number
        self._job, self._coordinator = owner._job, owner._coordinator
        self._session, self._cancelled = owner._session, owner._cancelled
        slots = slots_of(self._job.stages)
        configuration = self._job.settings.configuration
        self._hosts = owner._hosts = hosts_for(
            self._session, slots, configuration, owner._hosts, owner._check_cancelled
        )
        self._network = owner._network
        endpoint = driver_endpoint(self._session, self._network.driver_ports)
        self._pool = HostPool(
            endpoint, self._hosts, self._network, owner._check_cancelled, self._job.name
        )
        owner._pool = self._pool
        self._control = AttemptControl(self._coordinator, self._pool, owner._requests)
        self._query: HostsQuery | None = None
        self._spark_error: BaseException | None = None
        self._over, self._gone = threading.Event(), threading.Event()
        self._tag = f"{owner.job_id}-{number}"
        self._assembled = False

    def run(self) -> None:
        """Run to the end.

        Raises:
            BaseException: what ended the attempt early.
        """
        failed = True
        try:
            self._start()
            self._pool.assemble(self._owner.slot_timeout, self._check_start, self._started_hosts)
            self._assembled = True
            self._job.history.initializes()
            self._pool.deploy(self._deployment(), self._splits())
            self._list_in_spark()
            self._owner._enter(JobStatus.RUNNING)
            self._drive()
            failed = False
        except BaseException as error:  # noqa: BLE001 - the reason is raised
            reason = self._reason(error)
            self._control.failed(self._owner._told(reason))
            raise reason from None
        finally:
            self._end(failed)

    def _reason(self, error: BaseException) -> BaseException:
        """Return why the attempt ended; why a host is gone is something that Spark may know."""
        if isinstance(error, HostLost):
            self._gone.wait(_REASON_SECONDS)
            return self._spark_error or error
        return error

    def _drive(self) -> None:
        """Follow the hosts until the job is done."""
        pool, control, job = self._pool, self._control, self._job
        while not control.ended:
            self._check()
            job.maintain_sources(self._coordinator.oldest_checkpoint)
            control.run_pending(pool.ended, pool.paused)
            if not control.ended and not pool.ended and not pool.paused:
                pool.wait(max(0.0, min(_LOOK_SECONDS, self._coordinator.due_in / 1000)))
        self._owner._note_progress()

    def _check_start(self) -> None:
        """See whether anything ends the attempt, or Spark has lost what its hosts need to start."""
        self._check()
        if not has_room(self._session, self._hosts, self._job.settings.configuration):
            raise RuntimeError(
                f"Spark has lost executors, and has no room for {self._hosts} hosts any more"
            )

    def _started_hosts(self) -> int:
        """The number of hosts that Spark runs as tasks."""
        context = self._session.sparkContext
        tracker = context.statusTracker()
        # PySpark's tracker cannot look for a tag.
        ids = context._jsc.sc().statusTracker().getJobIdsForTag(self._tag)
        jobs = map(tracker.getJobInfo, ids)
        stages = (tracker.getStageInfo(n) for job in jobs if job for n in job.stageIds)
        return sum(stage.numActiveTasks for stage in stages if stage)

    def _check(self) -> None:
        """See whether anything ends the attempt."""
        if self._cancelled.is_set():
            raise JobCancelledError("Job was cancelled.")
        self._owner._check_printers()
        self._pool.check()
        if self._spark_error is not None:
            raise self._spark_error
        if self._gone.is_set():
            raise RuntimeError("Spark has ended the tasks of the job's hosts")
        if self._query is not None:
            self._query.check()

    def _splits(self) -> SplitDistribution | None:
        """Return the distribution of splits, if readers request some."""
        job, restore = self._job, self._coordinator.restore
        configuration, deliver = job.settings.configuration, self._pool.add_splits
        splits = SplitDistribution(job.stages, restore, configuration, deliver, self._owner._clock)
        return splits or None

    def _deployment(self) -> Deployment:
        return Deployment(
            plan=pickle.dumps((self._job.stages, self._job.settings), 5),
            hosts=self._hosts,
            attempt=self._number,
            restore=self._coordinator.restore,
            results=self._owner._server.address,
            channels={name: driver_channel(self._job, name) for name in channel_names(self._job)},
        )

    def _start(self) -> None:
        """Have Spark start the hosts."""
        name = f"hosts of {self._owner.job_id}"
        threading.Thread(target=self._run_hosts, name=name, daemon=True).start()

    def _list_in_spark(self) -> None:
        """Let Spark list an unbounded or checkpointed job among its queries.

        That takes longer than to start a Spark job, and first results do not wait for it.
        """
        if not self._job.bounded or self._job.settings.checkpointed:
            folder = scratch_subfolder("queries") / f"{self._owner.job_id}-{self._number}"
            name = f"{self._job.name} #{next(_numbers)}"
            self._query = HostsQuery(self._session, name, folder, self._gone)

    def _run_hosts(self) -> None:
        """Run the hosts as the tasks of a Spark job, until they end."""
        context = self._session.sparkContext
        environment = WorkerEnvironment.of_driver(self._owner._dependencies)
        task = HostTask(self._pool.control, environment, self._network)
        context.addJobTag(self._tag)
        context.setJobDescription(description_of(self._job, self._number))
        try:
            if not self._over.is_set():
                context.parallelize(range(self._hosts), self._hosts).foreachPartition(task.__call__)
        except BaseException as error:  # noqa: BLE001 - raised by the thread of the job
            self._spark_error = error
        finally:
            self._gone.set()
            if why_gone(self._session) is None:
                context.removeJobTag(self._tag)

    def _end(self, failed: bool) -> None:
        """Close the hosts, and let Spark kill those that do not answer."""
        try:
            prepared = self._pool.close(failed, self._cancelled.is_set)
            if failed:
                self._coordinator.abort(prepared)
        finally:
            self._owner._pool = None
            self._over.set()
            self._stop()

    def _stop(self) -> None:
        """Wait until Spark has ended the hosts; after a while it has to kill them."""
        try:
            self._stop_spark_job()
        except Exception as error:  # noqa: BLE001 - hosts end by themselves, without the driver
            if why_gone(self._session) is None:
                _log.warning("Spark could not stop the tasks of an attempt: %s", error)

    def _stop_spark_job(self) -> None:
        if not self._gone.wait(_END_SECONDS if self._assembled else 0.0):
            self._session.sparkContext.cancelJobsWithTag(self._tag)
        if self._query is not None:
            self._query.stop()
        self._gone.wait(_END_SECONDS)


class HostsQuery:
    """A query by which Spark lists a job: its only micro-batch lasts as long as the hosts.

    It begins in a thread of its own, beside a job that runs already.

    Args:
        session: the session of the job.
        name: the name under which Spark shows the query.
        folder: a new folder for Spark's own checkpoint.
        gone: set when the hosts have ended, and the query is to end.
    """

    def __init__(
        self, session: SparkSession, name: str, folder: Path, gone: threading.Event
    ) -> None:
        self._query: StreamingQuery | None = None
        self._error: BaseException | None = None
        self._gone = gone
        self._thread = threading.Thread(
            target=self._begin, args=(session, name, folder), name=f"query {name}", daemon=True
        )
        self._thread.start()

    def _begin(self, session: SparkSession, name: str, folder: Path) -> None:
        try:
            self._query = _start_query(session, name, folder, self._wait)
        except BaseException as error:  # noqa: BLE001 - raised by check
            self._error = error

    def _wait(self) -> None:
        self._gone.wait()

    def check(self) -> None:
        """See whether Spark has ended the query, or cannot start it.

        Raises:
            BaseException: why.
        """
        if self._error is not None:
            raise self._error
        if self._query is not None and not self._query.isActive:
            raise self._query.exception() or RuntimeError("Spark has stopped the job's query")

    def stop(self) -> None:
        """Stop the query, once it has begun."""
        self._thread.join()
        if self._query is not None:
            self._query.stop()


def _start_query(
    session: SparkSession, name: str, folder: Path, during: Callable[[], None]
) -> StreamingQuery:
    """Start a query whose only micro-batch lasts as long as a call."""
    source = (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 1)
        .option("numPartitions", 1)
        .load()
        .select("value")
    )
    return (
        source.writeStream.foreachBatch(lambda _batch, _number: during())
        .queryName(name)
        .option("checkpointLocation", folder.as_uri())
        .trigger(availableNow=True)
        .start()
    )


@dataclass(frozen=True)
class HostTask:
    """Runs a host as long as the attempt lasts; what Spark calls for each partition.

    So Spark sees the host as one of its tasks: it has a task slot, counts against the memory of its
    executor, and ends with it.

    Args:
        driver: where hosts call in.
        environment: of the user's functions.
        network: how hosts connect.
    """

    driver: Address
    environment: WorkerEnvironment
    network: NetworkSettings = field(default_factory=NetworkSettings)

    def __call__(self, numbers: Iterable[int]) -> None:
        """Run the host whose number is in the partition.

        Raises:
            HostLost: the driver does not answer; Spark tries again, and its error has the reason.
        """
        for number in numbers:
            self._run(number)

    def _run(self, number: int) -> None:
        freeze_modules()
        try:
            control = connect(self.driver, "the driver")
        except AuthenticationError:
            return  # as below, and something else listens there by now
        except HostLost as error:
            if isinstance(error.__cause__, (ConnectionError, EOFError)):
                return  # the attempt is over: what Spark runs again is not wanted
            raise
        host = Host(number, control, self.driver, self.network)
        try:
            control.send(number, host.address)  # heartbeats are answered from now on
            with self.environment.active():
                host.run()
        finally:
            control.close()
            call_after_task(host.release)
