"""A job with BATCH semantics."""

from __future__ import annotations

from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import check_may_be_saved
from pyflink_on_spark._runtime.task.stage import DRIVER
from pyflink_on_spark._spark.jobs.running_job import GivesServer, RunningJob, description_of
from pyflink_on_spark._spark.jobs.stage_function import PREPARED, PreparedCommits, run_stages


class BatchJob(RunningJob):
    """A job over bounded input: a chain of Spark stages.

    Args:
        job: what to run.
        server: gives what workers send results to.
    """

    def __init__(self, job: Job, server: GivesServer) -> None:
        super().__init__(job, server)
        self._prepared = PreparedCommits(job.sinks, job.settings.configuration, job.history.waits)

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        while not self._ended.is_set():  # again and again: it may be between two of Spark's jobs
            self._session.sparkContext.cancelJobsWithTag(self.job_id)
            self._ended.wait(0.2)

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Raise: a job with BATCH semantics has no state to save."""
        check_may_be_saved(self._job, "trigger_savepoint()")
        return ""

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Raise: a job with BATCH semantics has no state to save."""
        check_may_be_saved(self._job, "stop_with_savepoint()")
        return ""

    def _run(self) -> None:
        self._open_channel(PREPARED, self._prepared.add)
        self._attempts()

    def _attempt(self, number: int) -> None:
        payloads = self._run_batch(number)
        self._check_cancelled()
        self._check_printers()
        self._prepared.commit(payloads)

    def _clean_up(self) -> None:
        self._prepared.abort()

    def _run_batch(self, attempt: int) -> list[bytes]:
        context = self._session.sparkContext
        context.addJobTag(self.job_id)
        context.setJobDescription(description_of(self._job))
        try:
            self._check_cancelled()
            return self._payloads(attempt)
        finally:
            context.removeJobTag(self.job_id)

    def _payloads(self, attempt: int) -> list[bytes]:
        """Run all stages; return the committables of their sinks."""
        context, address = self._session.sparkContext, self._server.address
        rows = run_stages(context, self._job, address, attempt, self._dependencies).collect()
        assert all(subtask_id == DRIVER for (subtask_id, _, _), _ in rows)
        return [payload for _, payload in rows]
