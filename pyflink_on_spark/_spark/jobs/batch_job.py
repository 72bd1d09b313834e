"""A job that ends by itself: one epoch of a streaming query, or one batch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.state_settings import keyed_operators, state_settings
from pyflink_on_spark._runtime.state.settings import StateSettings
from pyflink_on_spark._runtime.task.level import DRIVER
from pyflink_on_spark._spark.jobs.level_plan import (
    run_levels,
    subtasks_of,
)
from pyflink_on_spark._spark.jobs.prepared import PREPARED, PreparedCommits
from pyflink_on_spark._spark.jobs.running_job import RunningJob
from pyflink_on_spark._spark.session.scratch import scratch_subfolder
from pyflink_on_spark._spark.transport.result_channel import ResultServer

_numbers = itertools.count()


class BoundedJob(RunningJob):
    """A job over bounded input, without checkpoints.

    Args:
        job: what to run.
        server: gives what workers send results to.
    """

    def __init__(self, job: Job, server: Callable[[SparkSession], ResultServer]) -> None:
        super().__init__(_with_state_on_disk(job), server)
        self._prepared = PreparedCommits(job.sinks)

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        while not self._ended.is_set():  # again and again: it may be between two of Spark's jobs
            self._session.sparkContext.cancelJobsWithTag(self.job_id)
            self._ended.wait(0.2)

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

    def _run(self) -> None:
        self._open_channel(PREPARED, self._prepared.add)
        self._attempts()

    def _attempt(self, number: int) -> None:
        batch = self._job.settings.batch
        payloads = self._run_batch(number) if batch else self._run_epoch(number)
        self._check_cancelled()
        self._check_printers()
        self._prepared.commit(payloads)

    def _give_up(self) -> None:
        self._prepared.abort()

    def _run_batch(self, attempt: int) -> list[bytes]:
        count = subtasks_of(self._job.levels[0])
        return self._payloads(self._session.range(0, count, 1, count), attempt)

    def _run_epoch(self, attempt: int) -> list[bytes]:
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
                results.extend(self._payloads(batch, attempt))
            except BaseException as error:  # noqa: BLE001 - kept from Spark, which would wrap it
                errors.append(error)

        folder = scratch_subfolder("queries") / f"{self.job_id}-{attempt}"
        query = (
            start.writeStream.foreachBatch(run)
            .queryName(f"{self._job.name} #{next(_numbers)}")
            .option("checkpointLocation", folder.as_uri())
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        if errors:
            raise errors[0]
        return results

    def _payloads(self, start: DataFrame, attempt: int) -> list[bytes]:
        context = start.sparkSession.sparkContext
        context.addJobTag(self.job_id)
        context.setJobDescription(f"{self._job.name}: {_describe(self._job)}")
        try:
            self._check_cancelled()
            address = self._server.address
            rows = run_levels(start, self._job, address, attempt, self._dependencies).collect()
        finally:
            context.removeJobTag(self.job_id)
        assert all(row.target == DRIVER for row in rows)
        return [bytes(row.payload) for row in rows]


def _with_state_on_disk(job: Job) -> Job:
    """Return a job that keeps its state where its backend says; BATCH has one key at a time."""
    if job.settings.batch:
        return job
    disk = state_settings(job.settings.configuration, keyed_operators(job.levels, 0)).disk
    return replace(job, settings=replace(job.settings, state=StateSettings(disk)))


def _describe(job: Job) -> str:
    return " | ".join(region.name for level in job.levels for region in level.regions)
