"""A job that ends by itself: one epoch of a streaming query, or one batch."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pyflink_on_spark._compat.errors import JobCancelledError
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._graph.job import Job
from pyflink_on_spark._runtime.level import DRIVER
from pyflink_on_spark._spark.collected import CollectedElements
from pyflink_on_spark._spark.dataframes import (
    channel_names,
    driver_channel,
    run_levels,
    subtasks_of,
)
from pyflink_on_spark._spark.dependencies import ShippedDependencies, ship, spark_settings
from pyflink_on_spark._spark.failures import job_error, print_error
from pyflink_on_spark._spark.prepared import PREPARED, PreparedCommits
from pyflink_on_spark._spark.result_channel import Channel, ResultServer
from pyflink_on_spark._spark.scratch import scratch_subfolder
from pyflink_on_spark._spark.session import obtain_session
from pyflink_on_spark.common import JobExecutionResult, JobStatus
from pyflink_on_spark.common.job_execution_result import JobOutcome

_numbers = itertools.count()


class BoundedJob:
    """A job over bounded input, in a thread of its own.

    Args:
        job: what to run.
        server: gives what workers send results to.
    """

    def __init__(self, job: Job, server: Callable[[SparkSession], ResultServer]) -> None:
        self._job, self._get_server = job, server
        self.job_id = job.settings.job_id
        self._status = JobStatus.CREATED
        self._error: BaseException | None = None
        self._runtime = 0
        self._cancelled = threading.Event()
        self._channels: dict[str, Channel] = {}
        self._prepared = PreparedCommits(job.sinks)
        self._dependencies = ShippedDependencies()
        self._thread = threading.Thread(target=self._run, name=f"job-{self.job_id}", daemon=True)

    def start(self) -> None:
        """Find a session, open the channels, begin.

        Raises:
            EnvironmentSetupError: if there is no session, or what the job takes along is not there.
            FileNotFoundError: for the same reason.
        """
        configuration = self._job.settings.configuration
        self._session = obtain_session(spark_settings(configuration))
        self._dependencies = ship(self._session, configuration)
        self._server = self._get_server(self._session)
        for name in channel_names(self._job):
            self._open_channel(name, self._job.printers.get(name))
        self._open_channel(PREPARED, self._prepared.add)
        self._thread.start()

    def status(self) -> JobStatus:
        """Return how far the job has come."""
        return self._status

    def accumulators(self) -> dict[str, Any]:
        """Return the accumulators."""
        return self._job.accumulators.results()

    def result(self) -> JobExecutionResult:
        """Wait for the end; return the result or raise what the job failed with.

        Ctrl-C while it waits cancels the job.
        """
        try:
            self._join()
        except KeyboardInterrupt:
            self.cancel()
            raise
        if self._error is not None:
            raise self._error.with_traceback(None)
        return JobExecutionResult(JobOutcome(self.job_id, self._runtime, self.accumulators()))

    def collected(self) -> CollectedElements:
        """Return what the job collects, as it comes; closing it ends the job."""
        assert self._job.collected is not None
        channel = self._channels[self._job.collected]
        return CollectedElements(channel, self.result, self.cancel, self.abandon)

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        while self._thread.is_alive():  # again and again: it may be between two of Spark's jobs
            self._session.sparkContext.cancelJobsWithTag(self.job_id)
            self._thread.join(0.2)

    def abandon(self) -> None:
        """Let the job end, as soon as it has something to send, without waiting for that."""
        self._cancelled.set()
        for channel in self._channels.values():
            channel.close()

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
            reason="a job over bounded input without checkpoints runs as one epoch, which is not "
            "saved in between",
            instead="Call env.enable_checkpointing(...), and the job can be saved.",
        )

    def _open_channel(self, name: str, callback: Callable[[list[Any]], None] | None) -> None:
        full_name = driver_channel(self._job, name)
        self._channels[name] = self._server.open_channel(full_name, callback)

    def _join(self) -> None:
        while self._thread.is_alive():
            self._thread.join(1.0)  # short waits let Ctrl-C through

    def _run(self) -> None:
        started = time.monotonic()
        self._status = JobStatus.RUNNING
        status = JobStatus.FAILED
        try:
            payloads = self._run_batch() if self._job.settings.batch else self._run_epoch()
            self._check_cancelled()
            self._check_printers()
            self._prepared.commit(payloads)
            status = JobStatus.FINISHED
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            status = self._fail(error)
        finally:
            self._runtime = int((time.monotonic() - started) * 1000)
            self._close_channels()
            self._status = status

    def _fail(self, error: BaseException) -> JobStatus:
        status = JobStatus.FAILED
        self._error = self._failed_printer() or job_error(self._job.name, error)
        if self._cancelled.is_set():
            status = JobStatus.CANCELED
            self._error = JobCancelledError("Job was cancelled.")
        try:
            self._prepared.abort()
        except Exception as left:  # noqa: BLE001 - the job's own error is the one to tell
            self._error.add_note(f"Then what its sinks had prepared could not be removed: {left}")
        return status

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise JobCancelledError("Job was cancelled.")

    def _check_printers(self) -> None:
        error = self._failed_printer()
        if error is not None:
            raise error

    def _failed_printer(self) -> BaseException | None:
        errors = [self._channels[name].error for name in self._job.printers]
        return next((print_error(self._job.name, e) for e in errors if e is not None), None)

    def _run_batch(self) -> list[bytes]:
        count = subtasks_of(self._job.levels[0])
        return self._payloads(self._session.range(0, count, 1, count))

    def _run_epoch(self) -> list[bytes]:
        """Run everything as one micro-batch of a streaming query."""
        count = subtasks_of(self._job.levels[0])
        start = (
            self._session.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", count)
            .option("numPartitions", count)
            .load()
            .select("value")
        )
        results: list[bytes] = []
        errors: list[BaseException] = []

        def run(batch: DataFrame, _: int) -> None:
            try:
                results.extend(self._payloads(batch))
            except BaseException as error:  # noqa: BLE001 - kept from Spark, which would wrap it
                errors.append(error)

        query = (
            start.writeStream.foreachBatch(run)
            .queryName(f"{self._job.name} #{next(_numbers)}")
            .option("checkpointLocation", str(scratch_subfolder("queries") / self.job_id))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        if errors:
            raise errors[0]
        return results

    def _payloads(self, start: DataFrame) -> list[bytes]:
        context = start.sparkSession.sparkContext
        context.addJobTag(self.job_id)
        context.setJobDescription(f"{self._job.name}: {_describe(self._job)}")
        try:
            self._check_cancelled()
            address = self._server.address
            rows = run_levels(start, self._job, address, 0, self._dependencies).collect()
        finally:
            context.removeJobTag(self.job_id)
        assert all(row.target == DRIVER for row in rows)
        return [bytes(row.payload) for row in rows]

    def _close_channels(self) -> None:
        for name, channel in self._channels.items():
            if name == self._job.collected and not self._cancelled.is_set():
                channel.finish(self._error)
                self._server.forget(channel)
            else:
                self._server.release(channel)


def _describe(job: Job) -> str:
    return " | ".join(region.name for level in job.levels for region in level.regions)
