"""What has happened to a job: its states, its checkpoints and its failures, with their times."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from pyflink_on_spark._runtime.elements.clock import Clock, SystemClock
from pyflink_on_spark.common import JobStatus

IN_PROGRESS, COMPLETED, FAILED = "IN_PROGRESS", "COMPLETED", "FAILED"
_KEPT = 50
_log = logging.getLogger("pyflink_on_spark")


@dataclass
class CheckpointRecord:
    """One checkpoint or savepoint; times in ms since the epoch.

    Args:
        number: its number.
        savepoint: whether a user asked for it.
        triggered: when it began.
        path: the URI of its folder; None if it is in memory.
        status: ``IN_PROGRESS``, ``COMPLETED`` or ``FAILED``.
        ended: when it was complete, or aborted.
        size: its state in bytes.
        error: why it was aborted.
    """

    number: int
    savepoint: bool
    triggered: int
    path: str | None
    status: str = IN_PROGRESS
    ended: int | None = None
    size: int = 0
    error: str = ""


@dataclass(frozen=True)
class FailureRecord:
    """A failure of one attempt.

    Args:
        time: when, in ms since the epoch.
        attempt: which attempt has failed, from 0.
        error: the error's text, with the user's traceback.
    """

    time: int
    attempt: int
    error: str


@dataclass
class CheckpointCounts:
    """How many checkpoints and savepoints there were."""

    restored: int = 0
    total: int = 0
    completed: int = 0
    failed: int = 0
    in_progress: int = 0


class JobListener:
    """Is notified of what happens to a job, in the thread of the job; does nothing by default."""

    def status_changed(self, status: JobStatus, error: BaseException | None) -> None:
        """Take a new status; ``error`` is what a job ended with that did not finish."""

    def attempt_failed(self, failure: FailureRecord, delay_ms: int) -> None:
        """Take a failure after which the job starts again."""

    def checkpoint_ended(self, checkpoint: CheckpointRecord) -> None:
        """Take a checkpoint that is complete or aborted."""


class JobHistory:
    """Keeps what has happened to a job; of checkpoints and failures the latest.

    Args:
        clock: gives the times.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._listeners: list[JobListener] = []
        self._checkpoints: deque[CheckpointRecord] = deque(maxlen=_KEPT)
        self._failures: deque[FailureRecord] = deque(maxlen=_KEPT)
        self._times: dict[JobStatus, int] = {JobStatus.CREATED: self._clock.now()}
        self.counts = CheckpointCounts()
        self.restored: CheckpointRecord | None = None
        """The checkpoint that the job began with."""
        self.attempt = 0
        """How often the job has started again."""

    def listen(self, listener: JobListener) -> None:
        """Notify a listener from now on."""
        self._listeners.append(listener)

    @property
    def times(self) -> dict[JobStatus, int]:
        """When the job last got each status that it has had (ms since the epoch)."""
        with self._lock:
            return dict(self._times)

    @property
    def checkpoints(self) -> list[CheckpointRecord]:
        """The latest checkpoints and savepoints, the oldest first."""
        with self._lock:
            return list(self._checkpoints)

    @property
    def failures(self) -> list[FailureRecord]:
        """The latest failures, the oldest first."""
        with self._lock:
            return list(self._failures)

    def last_completed(self, savepoint: bool) -> CheckpointRecord | None:
        """Return the last checkpoint, or savepoint, that is complete."""
        found = (c for c in reversed(self.checkpoints) if c.status == COMPLETED)
        return next((c for c in found if c.savepoint == savepoint), None)

    def enter(self, status: JobStatus, error: BaseException | None = None) -> None:
        """Note a new status; ``error`` is what a job ended with that did not finish."""
        with self._lock:
            self._times[status] = self._clock.now()
            if error is not None and status is JobStatus.FAILED:
                self._note_failure(error)
        self._notify("status_changed", status, error)

    def attempt_failed(self, error: BaseException, delay_ms: int) -> None:
        """Note a failure after which the job starts again in so many ms."""
        with self._lock:
            failure = self._note_failure(error)
            self.attempt += 1
        self._notify("attempt_failed", failure, delay_ms)

    def restored_from(self, number: int, path: str, savepoint: bool) -> None:
        """Note the checkpoint that the job begins with."""
        now = self._clock.now()
        self.counts.restored += 1
        self.restored = CheckpointRecord(number, savepoint, now, path, COMPLETED, now)

    @contextlib.contextmanager
    def checkpoint(
        self, number: int, path: str | None, savepoint: bool
    ) -> Iterator[CheckpointRecord]:
        """Note a checkpoint that is made in the block; it has failed if the block raises."""
        record = CheckpointRecord(number, savepoint, self._clock.now(), path)
        with self._lock:
            self._checkpoints.append(record)
            self.counts.total += 1
            self.counts.in_progress += 1
        try:
            yield record
        except BaseException as error:
            record.error = str(error) or repr(error)
            self._ended(record, FAILED)
            raise
        self._ended(record, COMPLETED)

    def _ended(self, record: CheckpointRecord, status: str) -> None:
        with self._lock:
            record.ended, record.status = self._clock.now(), status
            self.counts.in_progress -= 1
            self.counts.completed += status == COMPLETED
            self.counts.failed += status == FAILED
        self._notify("checkpoint_ended", record)

    def _note_failure(self, error: BaseException) -> FailureRecord:
        failure = FailureRecord(self._clock.now(), self.attempt, str(error) or repr(error))
        self._failures.append(failure)
        return failure

    def _notify(self, event: str, *what: object) -> None:
        for listener in self._listeners:
            try:
                getattr(listener, event)(*what)
            except Exception:  # noqa: BLE001 - a listener must not end the job
                _log.exception("a listener of the job has failed")
