"""The common part of jobs with STREAMING semantics: savepoints, interruption, progress."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import wait

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._job.display import Progress, display_for
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import (
    SavepointRequest,
    SavepointRequests,
    nothing_to_save,
)
from pyflink_on_spark._options import own
from pyflink_on_spark._runtime.diagnosis import gist_of
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress
from pyflink_on_spark._spark.jobs.running_job import RunningJob

_log = logging.getLogger("pyflink_on_spark")
_NOTE_SECONDS = 0.25


class StatefulJob(RunningJob):
    """A job whose state can be saved while it runs.

    Args:
        job: what to run.
    """

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._long_running = not job.bounded
        self._requests = SavepointRequests()
        self._interrupted = False
        setting = own.PROGRESS.read(job.settings.configuration)
        # A program that iterates over results may print each of them.
        quiet = job.collected is not None and setting == "AUTO"
        self._progress = Progress(job.name, job.listeners, None if quiet else display_for(setting))

    @property
    def progress(self) -> JobProgress | None:
        """The progress of the job; None before the first report."""
        return self._progress.latest

    @property
    def parts(self) -> Sequence[TaskProgress]:
        """The progress of each chain of each subtask."""
        return self._progress.parts

    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""
        self.abandon()
        self._join()

    def interrupt(self) -> None:
        """End the job as if its process was killed: the last checkpoint stays.

        With ``pyflink-on-spark.savepoint-on-signal`` the job stops with a savepoint, if it can.
        """
        if own.SAVEPOINT_ON_SIGNAL.read(self._job.settings.configuration) and self._stopped():
            return
        self._interrupted = True
        self.cancel()

    def _stopped(self) -> bool:
        """Stop with a savepoint, and return whether that could be done."""
        try:
            path = self.stop_with_savepoint(
                advance_to_end_of_event_time=False, savepoint_directory=None
            )
        except Exception as error:  # noqa: BLE001 - the job ends without one
            _log.warning("the job %r ends without a savepoint: %s", self._job.name, error)
            return self._ended.is_set()
        _log.warning("the job %r was stopped with the savepoint %s", self._job.name, path)
        return True

    def _attempts(self) -> None:
        over = threading.Event()

        def note() -> None:
            while not over.wait(_NOTE_SECONDS):
                self._note_progress()

        # The thread of the job may wait, for example for a sink to commit.
        notes = threading.Thread(target=note, name=f"progress of {self.job_id}", daemon=True)
        notes.start()
        try:
            super()._attempts()
        finally:
            over.set()
            notes.join()
            self._progress.ended()

    def _note_progress(self) -> None:
        """Let listeners know how far the job is; called all the time, in a thread of its own.

        Reports come between micro-batches. None comes, and nothing runs, while the driver waits.
        """
        if self._job.history.waiting is not None:
            self._progress.fade()

    def _rest(self, delay_ms: int, failure: JobExecutionError) -> None:
        self._progress.stands()
        with self._requests.refused(nothing_to_save(self._job, gist_of(str(failure)), delay_ms)):
            super()._rest(delay_ms, failure)

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint while the job runs; return its path."""
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
