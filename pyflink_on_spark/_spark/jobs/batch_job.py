"""The common part of jobs with BATCH semantics: nothing to save, and commits at the end."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping

from pyflink_on_spark._job.checkpoints.commits import Commits
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import check_may_be_saved
from pyflink_on_spark._options.own import COMMIT_TIMEOUT
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._spark.jobs.running_job import RunningJob, description_of

PREPARED = "prepared"
"""The name of the channel through which tasks say what they have prepared."""


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

    def commit(self, payloads: Iterable[bytes], *, again: bool = False) -> None:
        """Make visible what the tasks of the job returned; what others prepared is thrown away.

        What the tasks returned stays if a sink cannot commit: some of it may be visible.

        Args:
            payloads: the committables.
            again: whether this failed before, when some of it was perhaps done.

        Raises:
            CommitTimeoutError: a sink has not committed in time. It may still do so.
        """
        wanted = list(payloads)
        with self._lock:
            self._commits.checkpoint_complete(_unsealed(wanted), 0, final=True)
            self._told.difference_update(wanted)  # of two sinks one may have committed
            self._commits.commit(again=again)
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


class BatchJob(RunningJob):
    """A job over bounded input: a chain of Spark stages.

    Args:
        job: what to run.
    """

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._prepared = PreparedCommits(job.sinks, job.settings.configuration, job.history.waits)
        self._computed: list[bytes] | None = None

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
        """Run all stages, and commit; only commit if an attempt before has failed in that."""
        again = self._computed is not None
        if self._computed is None:
            payloads = self._run_batch(number)
            self._check_cancelled()
            self._check_printers()
            self._computed = payloads
        self._prepared.commit(self._computed, again=again)

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

    @abstractmethod
    def _payloads(self, attempt: int) -> list[bytes]:
        """Run all stages; return the committables of their sinks."""
