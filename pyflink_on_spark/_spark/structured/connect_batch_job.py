"""A job with BATCH semantics on a Spark Connect server: a chain of DataFrames."""

from __future__ import annotations

import contextlib
import functools

import cloudpickle
from pyspark import TaskContext
from pyspark.errors import PySparkException

from pyflink_on_spark._job.restarts import check_may_be_saved
from pyflink_on_spark._spark.jobs.batch_job import PreparedCommits
from pyflink_on_spark._spark.structured.connect_job import ConnectJob, unless_late
from pyflink_on_spark._spark.structured.server_batches import CommitsRecipe, recipe_of
from pyflink_on_spark._spark.structured.stage_frames import divided, frame_of


class ConnectBatchJob(ConnectJob):
    """A job over bounded input; each stage is a ``mapInArrow``, each exchange a shuffle."""

    _computed: list[bytes] | None = None

    def _take_restored(self) -> None:
        """Do nothing: a job with BATCH semantics has no state to begin with."""

    def _run(self) -> None:
        self._attempts()

    def _clean_up(self) -> None:
        """Do nothing: nothing is committed before the end."""

    @property
    def _resumable(self) -> bool:
        return False

    def _attempt(self, number: int) -> None:
        """Run all stages, and commit; only commit if an attempt before has failed in that."""
        again = self._computed is not None
        if self._computed is None:
            self._computed = self._run_stages(number)
        if self._job.sinks:
            recipe = cloudpickle.dumps(CommitsRecipe.of(self._job, ""), 5)
            self._commit(functools.partial(_commit, recipe, self._computed, again))

    def _run_stages(self, number: int) -> list[bytes]:
        """Run all stages, hand results over, and return what sinks have prepared."""
        self._session.addTag(self.job_id)
        rows = frame_of(self._session, self._job, number, self._environment).collect()
        self._check_cancelled()
        sent, prepared = divided(rows)
        for channel, things in sent:
            self._deliver(channel, things)
        self._check_printers()
        return prepared

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        while not self._ended.is_set():
            with contextlib.suppress(PySparkException):  # the session ends with the job
                self._session.interruptTag(self.job_id)
            self._ended.wait(0.5)

    def _request(self, request: object) -> str:
        check_may_be_saved(self._job, "a savepoint")
        return ""


def _commit(recipe: bytes, prepared: list[bytes], again: bool) -> str | None:
    """Commit what tasks have prepared, as ``unless_late`` does."""
    found = recipe_of(recipe)
    task = TaskContext.get()
    again = again or (task is not None and task.attemptNumber() > 0)
    commits = PreparedCommits(found.sinks, found.settings.configuration)
    return unless_late(functools.partial(commits.commit, prepared, again=again))
