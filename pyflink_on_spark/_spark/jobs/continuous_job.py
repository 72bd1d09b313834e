"""A job in continuous mode."""

from __future__ import annotations

import contextlib
import itertools
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pyflink_on_spark._compat.errors import CheckpointError, JobCancelledError
from pyflink_on_spark._job.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.epoch_boundary import EpochBoundary, SavepointRequest
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.progress_line import Progress, line_for
from pyflink_on_spark._runtime.clock import SystemClock
from pyflink_on_spark._runtime.immutability import deserialize
from pyflink_on_spark._runtime.task.hosted_subtasks import EpochReport
from pyflink_on_spark._runtime.task.level import DRIVER
from pyflink_on_spark._runtime.task.plan import OperatorPlan, StagePlan, source_names
from pyflink_on_spark._runtime.task.progress import JobProgress
from pyflink_on_spark._runtime.task.restored_key_groups import with_key_groups
from pyflink_on_spark._spark.hosts.epoch_function import Epoch, EpochFunction
from pyflink_on_spark._spark.hosts.host import Deployment
from pyflink_on_spark._spark.hosts.pool import HostPool
from pyflink_on_spark._spark.hosts.spawn import spawn_hosts
from pyflink_on_spark._spark.jobs.failures import job_error
from pyflink_on_spark._spark.jobs.level_plan import (
    channel_names,
    driver_channel,
    exchanged,
)
from pyflink_on_spark._spark.jobs.running_job import RunningJob
from pyflink_on_spark._spark.session.scratch import scratch_subfolder
from pyflink_on_spark._spark.transport.arrow_rows import ROW_SCHEMA
from pyflink_on_spark._spark.transport.result_channel import ResultServer
from pyflink_on_spark.common._options import own

_SHORTEST_EPOCH, _LONGEST_EPOCH = 0.2, 2.0
_numbers = itertools.count()


class ContinuousJob(RunningJob):
    """A job whose subtasks live in slot hosts, started again when it fails.

    Args:
        job: what to run.
        server: gives what workers send results to.
    """

    _long_running = True

    def __init__(self, job: Job, server: Callable[[SparkSession], ResultServer]) -> None:
        super().__init__(job, server)
        self._requests: list[SavepointRequest] = []
        self._interrupted = False
        setting = own.PROGRESS.read(job.settings.configuration)
        self._progress = Progress(job.name, job.listeners, line_for(setting))
        self._coordinator = CheckpointCoordinator(
            CheckpointSettings.of(job.settings.configuration),
            self.job_id,
            job.name,
            list(_operators(job.levels)),
            job.sinks,
            SystemClock(),
            source_names(job.levels),
        )

    def start(self) -> None:
        """Find a session, open the channels, begin.

        Raises:
            CheckpointError: if the checkpoint to begin with does not fit.
            EnvironmentSetupError: if there is no session, or what the job takes along is not there.
        """
        self._coordinator.restore_given()
        counts = self._coordinator.key_groups
        self._job = replace(self._job, levels=with_key_groups(self._job.levels, counts))
        super().start()

    @property
    def progress(self) -> JobProgress | None:
        """How far the job is; None before the first epoch."""
        return self._progress.latest

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        self._join()

    def interrupt(self) -> None:
        """End the job as if its process was killed: the last checkpoint stays."""
        self._interrupted = True
        self.cancel()

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint between two epochs; return its path."""
        return self._request(SavepointRequest(savepoint_directory))

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Write a savepoint and end the job; return the savepoint's path.

        Raises:
            CheckpointError: if it cannot be written, or the job fails although it is written.
        """
        path = self._request(
            SavepointRequest(savepoint_directory, stop=True, drain=advance_to_end_of_event_time)
        )
        self._join()
        if self._error is not None:
            raise CheckpointError(
                f"there is a savepoint in {path}, and all of it is committed, but the job failed "
                f"while it ended: {self._error}"
            ) from self._error
        return path

    def _request(self, request: SavepointRequest) -> str:
        self._requests.append(request)
        while self._thread.is_alive() and not request.path.done():
            wait([request.path], 0.2)
        if not request.path.done():
            raise RuntimeError(f"the job is {self._status.name}: it has no state to save")
        return request.path.result()

    def _run(self) -> None:
        try:
            self._attempts()
        finally:
            self._progress.ended()
        with contextlib.suppress(OSError):
            self._coordinator.job_finished()

    @property
    def _resumable(self) -> bool:
        return self._coordinator.resumable

    def _attempt(self, number: int) -> None:
        self._coordinator.attempt_begins()
        self._progress.attempt_begins()
        _Attempt(self, number).run()

    def _wait_for_restart(self, error: BaseException) -> None:
        if self._coordinator.over:
            raise error  # another attempt would do again what is committed
        super()._wait_for_restart(error)

    def _give_up(self) -> None:
        if self._interrupted:
            self._coordinator.job_interrupted()
        elif self._cancelled.is_set():
            self._coordinator.job_cancelled()
        else:
            self._coordinator.job_failed()


class _Attempt:
    """One run of a job, from a fresh start or a checkpoint, to its end or a failure."""

    def __init__(self, owner: ContinuousJob, number: int) -> None:
        self._owner, self._number = owner, number
        self._job, self._coordinator = owner._job, owner._coordinator
        self._levels, self._session = owner._job.levels, owner._session
        self._slots = max(r.parallelism for level in self._levels for r in level.regions)
        host = self._session.sparkContext.getConf().get("spark.driver.host", "127.0.0.1")
        self._fleet = HostPool(host or "127.0.0.1", self._slots)
        self._ended = threading.Event()
        self._between = EpochBoundary(self._coordinator, self._fleet, owner._requests)
        self._epoch = Epoch(0, _SHORTEST_EPOCH)
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Run to the end.

        Raises:
            BaseException: what ended the attempt early.
        """
        failed = True
        try:
            self._fleet.assemble(
                lambda: spawn_hosts(
                    self._session, self._fleet.control, self._slots, self._owner._dependencies
                )
            )
            self._fleet.deploy(self._deployment())
            self._run_query()
            failed = False
        except BaseException as error:
            self._between.failed(job_error(self._job.name, error))
            raise
        finally:
            self._fleet.close(failed, self._owner._cancelled.is_set)

    def _deployment(self) -> Deployment:
        return Deployment(
            plan=pickle.dumps((self._levels, self._job.settings), 5),
            attempt=self._number,
            restore=self._coordinator.restore,
            results=self._owner._server.address,
            channels={name: driver_channel(self._job, name) for name in channel_names(self._job)},
        )

    def _run_query(self) -> None:
        count = 1 + max(_slots(self._levels[0]).values())
        ticks = (
            self._session.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", count)
            .option("numPartitions", count)
            .load()
            .select("value")
        )
        folder = scratch_subfolder("queries") / f"{self.job_folder}"
        query = (
            ticks.writeStream.foreachBatch(self._run_epoch)
            .queryName(f"{self._job.name} #{next(_numbers)}")
            .option("checkpointLocation", folder.as_uri())
            .trigger(processingTime="0 seconds")
            .start()
        )
        try:
            self._wait(query)
        finally:
            query.stop()
        if self._failure is not None:
            raise self._failure

    @property
    def job_folder(self) -> str:
        """The name of a folder for the query's own log, which is of no use to anyone later."""
        return f"{self._owner.job_id}-{self._number}"

    def _wait(self, query: StreamingQuery) -> None:
        while not self._ended.wait(0.05):
            self._fleet.check()
            if self._owner._cancelled.is_set():
                raise JobCancelledError("Job was cancelled.")
            if not query.isActive and not self._ended.is_set():
                error = query.exception()
                raise error or RuntimeError("Spark has stopped the job's query")

    def _run_epoch(self, batch: DataFrame, _: int) -> None:
        """Run all levels once; called by Spark for each micro-batch."""
        if self._ended.is_set() or self._owner._cancelled.is_set():
            return
        try:
            reports = self._run_levels(batch)
            self._owner._check_printers()
            self._job.between_epochs(self._coordinator.oldest_checkpoint)
            self._between.work_off(reports)
            self._owner._progress.epoch_ended(
                self._number,
                self._epoch.number + 1,
                self._coordinator.last_checkpoint,
                [task for report in reports for task in report.progress],
            )
        except BaseException as error:  # noqa: BLE001 - kept from Spark, which would wrap it
            self._failure = error
            self._ended.set()
        else:
            number, length = self._epoch.number + 1, self._next_length(reports)
            self._epoch = Epoch(number, length, self._between.draining)
            if self._between.ended:
                self._ended.set()

    def _run_levels(self, batch: DataFrame) -> list[EpochReport]:
        context = self._session.sparkContext
        context.setJobDescription(f"{self._job.name}: epoch {self._epoch.number}")
        later = tuple(t for level in self._levels[1:] for t in _slots(level))
        rows = batch
        for number, level in enumerate(self._levels):
            if number > 0:
                rows = exchanged(rows, level)
            function = EpochFunction(
                self._epoch, _slots(level), later, self._fleet.data, first=number == 0
            )
            rows = rows.mapInArrow(function.__call__, ROW_SCHEMA)
        found = rows.collect()
        assert all(row.target == DRIVER for row in found)
        return [deserialize(bytes(row.payload)) for row in found]

    def _next_length(self, reports: list[EpochReport]) -> float:
        """Return how long to read next time: the more, the less time is Spark's own share."""
        behind = any(report.behind for report in reports)
        length = self._epoch.seconds * (1.5 if behind else 0.5)
        return min(max(length, _SHORTEST_EPOCH), _LONGEST_EPOCH)


def _slots(level: StagePlan) -> dict[int, int]:
    return {
        region.first_target + index: index
        for region in level.regions
        for index in range(region.parallelism)
    }


def _operators(levels: tuple[StagePlan, ...]) -> Iterator[OperatorPlan]:
    for level in levels:
        for region in level.regions:
            for segment in region.segments:
                yield from segment.operators
