"""Runs jobs on Spark."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from pyflink_on_spark._compat.errors import JobCancelledError
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._graph.job import Job, commit
from pyflink_on_spark._runtime.isolation import unseal
from pyflink_on_spark._runtime.level import DRIVER
from pyflink_on_spark._spark.continuous.job import ContinuousJob
from pyflink_on_spark._spark.continuous.settings import CheckpointSettings
from pyflink_on_spark._spark.dataframes import (
    channel_names,
    driver_channel,
    run_levels,
    subtasks_of,
)
from pyflink_on_spark._spark.failures import job_error
from pyflink_on_spark._spark.result_channel import Channel, ResultServer
from pyflink_on_spark._spark.scratch import scratch_subfolder
from pyflink_on_spark._spark.session import obtain_session
from pyflink_on_spark.common import JobExecutionResult, JobStatus
from pyflink_on_spark.common.job_execution_result import JobOutcome

_numbers = itertools.count()


class SparkEngine:
    """Runs jobs on the active Spark session, or on a local one that it starts."""

    def __init__(self) -> None:
        self._server: ResultServer | None = None
        self._lock = threading.Lock()

    def submit(self, job: Job) -> SparkJob | ContinuousJob:
        """Start a job: as one epoch if it ends by itself, else in continuous mode.

        Raises:
            CheckpointError: if the checkpoint that it is to begin with does not fit.
        """
        handle = ContinuousJob(job, self.server) if _goes_on(job) else SparkJob(job, self)
        handle.start()
        return handle

    def server(self, session: SparkSession) -> ResultServer:
        """Return what workers send results to; one for the whole process."""
        with self._lock:
            if self._server is None:
                host = session.sparkContext.getConf().get("spark.driver.host", "127.0.0.1")
                self._server = ResultServer(host or "127.0.0.1")
            return self._server


class SparkJob:
    """A job on Spark, in a thread of its own."""

    def __init__(self, job: Job, engine: SparkEngine) -> None:
        self._job, self._engine = job, engine
        self.job_id = job.settings.job_id
        self._status = JobStatus.CREATED
        self._error: BaseException | None = None
        self._runtime = 0
        self._query: StreamingQuery | None = None
        self._session: SparkSession | None = None
        self._cancelled = threading.Event()
        self._channels: dict[str, Channel] = {}
        self._server: ResultServer | None = None
        self._thread = threading.Thread(target=self._run, name=f"job-{self.job_id}", daemon=True)

    def start(self) -> None:
        """Find a session, open the channels, begin."""
        configuration = self._job.settings.configuration
        spark = {key: value for key, value in configuration.items() if key.startswith("spark.")}
        self._session = obtain_session(spark)
        names = list(channel_names(self._job))
        if names:
            self._server = self._engine.server(self._session)
            for name in names:
                callback = self._job.printers.get(name)
                channel = self._server.open_channel(driver_channel(self._job, name), callback)
                self._channels[name] = channel
        self._thread.start()

    def status(self) -> JobStatus:
        """Return how far the job has come."""
        return self._status

    def accumulators(self) -> dict[str, Any]:
        """Return the accumulators."""
        return {}

    def result(self) -> JobExecutionResult:
        """Wait for the end; return the result or raise what the job failed with."""
        self._join()
        if self._error is not None:
            raise self._error
        return JobExecutionResult(JobOutcome(self.job_id, self._runtime, self.accumulators()))

    def collected(self) -> Iterator[Any]:
        """Yield what the job collects, as it comes; closing it ends the job."""
        assert self._job.collected is not None
        finished = False
        try:
            for things in self._channels[self._job.collected].batches():
                yield from map(unseal, things)
            finished = True
        finally:
            if not finished:
                self.cancel()
        self.result()

    def cancel(self) -> None:
        """End the job and wait until it has ended."""
        self._cancelled.set()
        query = self._query
        if query is not None:
            query.stop()
        elif self._session is not None:
            self._session.sparkContext.cancelJobsWithTag(self.job_id)
        self._join()

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Raise: a job without checkpoints has no state to save."""
        self._no_savepoints("trigger_savepoint()")
        return ""

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Raise: a job without checkpoints has no state to save."""
        self._no_savepoints("stop_with_savepoint()")
        return ""

    def _no_savepoints(self, call: str) -> None:
        raise_unsupported(
            call,
            kind=Gap.NOT_YET,
            reason="a job over bounded input runs as one epoch, which is not saved in between",
            instead="Run the job again from the beginning.",
        )

    def _join(self) -> None:
        while self._thread.is_alive():
            self._thread.join(1.0)  # short waits let Ctrl-C through

    def _run(self) -> None:
        started = time.monotonic()
        self._status = JobStatus.RUNNING
        try:
            rows = self._run_batch() if self._job.settings.batch else self._run_epoch()
            self._commit(rows)
            self._status = JobStatus.FINISHED
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            self._fail(error)
        finally:
            self._runtime = int((time.monotonic() - started) * 1000)
            self._close_channels()

    def _fail(self, error: BaseException) -> None:
        if self._cancelled.is_set():
            self._status = JobStatus.CANCELED
            self._error = JobCancelledError("Job was cancelled.")
        else:
            self._status = JobStatus.FAILED
            self._error = job_error(self._job.name, error)

    def _run_batch(self) -> list[Any]:
        assert self._session is not None
        count = subtasks_of(self._job.levels[0])
        start = self._session.range(0, count, 1, count)
        return self._rows(start)

    def _run_epoch(self) -> list[Any]:
        """Run everything as one micro-batch of a streaming query."""
        assert self._session is not None
        count = subtasks_of(self._job.levels[0])
        start = (
            self._session.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", count)
            .option("numPartitions", count)
            .load()
            .select("value")
        )
        results: list[list[Any]] = []
        folder = scratch_subfolder("queries") / self.job_id
        self._query = (
            start.writeStream.foreachBatch(lambda batch, _: results.append(self._rows(batch)))
            .queryName(f"{self._job.name} #{next(_numbers)}")
            .option("checkpointLocation", str(folder))
            .trigger(availableNow=True)
            .start()
        )
        if self._cancelled.is_set():
            self._query.stop()
        self._query.awaitTermination()
        if self._cancelled.is_set():
            raise JobCancelledError("Job was cancelled.")
        return results[0]

    def _rows(self, start: DataFrame) -> list[Any]:
        context = start.sparkSession.sparkContext
        context.addJobTag(self.job_id)
        context.setJobDescription(f"{self._job.name}: {_describe(self._job)}")
        try:
            address = None if self._server is None else self._server.address
            return run_levels(start, self._job, address, attempt=0).collect()
        finally:
            context.removeJobTag(self.job_id)

    def _commit(self, rows: list[Any]) -> None:
        assert all(row.target == DRIVER for row in rows)
        commit(self._job.sinks, (item for row in rows for item in unseal(bytes(row.payload))))

    def _close_channels(self) -> None:
        assert self._server is not None or not self._channels
        for name, channel in self._channels.items():
            channel.finish(self._error if name == self._job.collected else None)
            if name != self._job.collected and self._server is not None:
                self._server.release(channel)


def _goes_on(job: Job) -> bool:
    """Whether a job needs what only the continuous mode has."""
    if job.settings.batch:
        return False
    settings = CheckpointSettings.of(job.settings.configuration)
    return not job.bounded or settings.interval is not None or settings.restore is not None


def _describe(job: Job) -> str:
    return " | ".join(region.name for level in job.levels for region in level.regions)
