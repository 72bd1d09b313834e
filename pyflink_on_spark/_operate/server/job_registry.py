"""Lets the jobs of this process be found and operated from outside."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyflink_on_spark._job.job import (
    CheckpointRecord,
    FailureRecord,
    Job,
    JobListener,
)
from pyflink_on_spark._operate.metrics import Reporters
from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark._operate.server.rest.checkpoints import CheckpointsRoutes
from pyflink_on_spark._operate.server.rest.control import ControlRoutes, Operations
from pyflink_on_spark._operate.server.rest.job import JobRoutes, StateRoutes
from pyflink_on_spark._operate.server.rest.metrics import MetricsRoutes
from pyflink_on_spark._operate.server.rest.overview import (
    OverviewRoutes,
    ProcessRoutes,
    subtasks_of,
)
from pyflink_on_spark._operate.server.rest.routing import OK, Request, Router
from pyflink_on_spark._operate.server.rest.server import PageRoutes
from pyflink_on_spark._operate.server.rest.task import StacksRoutes, TaskRoutes
from pyflink_on_spark._operate.view.job_log import JobLog, LogTail
from pyflink_on_spark._operate.view.job_records import JobRecord, JobRecords, jobs_folder
from pyflink_on_spark._operate.view.jobs import (
    OperableHandle,
    OperatedJob,
    OperatedJobs,
    RecentFigures,
)
from pyflink_on_spark._options.flink import JOBS_KEPT, JOBS_KEPT_FOR
from pyflink_on_spark._options.own import REST_LINGER
from pyflink_on_spark.common import JobStatus

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.network import UnixRestServer

_WAIT_SECONDS = 5.0
_MOST_RESULTS = 100
_ARCHIVE_SECONDS = 10.0
_ARCHIVED = (
    "",
    "/accumulators",
    "/checkpoints",
    "/checkpoints/config",
    "/config",
    "/exceptions",
    "/execution-result",
    "/plan",
    "/recent",
    "/state",
    "/status",
)
_log = logging.getLogger("pyflink_on_spark")


class JobRegistry:
    """The jobs of this process, their records on disk, and the socket on which they are offered."""

    def __init__(self) -> None:
        self.jobs = OperatedJobs()
        self.log: str | None = None
        """The log file of this process, if it is detached."""
        self._lock = threading.Lock()
        self._records: JobRecords | None = None
        self._written: dict[str, JobRecord] = {}
        self._operations = Operations(self._finished)
        self._reporters = Reporters(self.jobs)
        self._server: UnixRestServer | None = None
        self._recent = RecentFigures(self.jobs)
        self.router = Router()
        tail = self._tail = LogTail()
        self._linger = 0.0
        for part in (
            PageRoutes(),
            OverviewRoutes(self.jobs),
            JobRoutes(self.jobs),
            StateRoutes(self.jobs, self._recent),
            ProcessRoutes(self.jobs, lambda: self.log, tail),
            MetricsRoutes(self.jobs),
            TaskRoutes(self.jobs),
            ControlRoutes(self.jobs, self._operations),
            CheckpointsRoutes(self.jobs),
            StacksRoutes(self.jobs),
        ):
            part.add_to(self.router)
        self.network = NetworkServer(self.router)

    def watch(self, job: Job, handle: OperableHandle) -> OperatedJob:
        """Log what happens to a job from its start on, and report its metrics.

        Raises:
            EnvironmentSetupError: a metric reporter or the REST API has no free port, or a library
                is missing.
            UnsupportedFlinkFeature: a metric reporter needs Flink's JVM.
            ValueError: an option of a metric reporter or the REST API cannot be used.
        """
        operated = OperatedJob(job, handle)
        self._tail.attach()
        self._linger = REST_LINGER.read(job.settings.configuration) / 1000
        self._reporters.start(job.settings.configuration)
        self.network.start(job.settings.configuration)
        if self.network.url is not None:
            self._recent.start()
        job.history.listen(JobLog(operated))
        return operated

    def offer(self, operated: OperatedJob) -> None:
        """Offer a job that has started; without a folder to offer it in, that is logged."""
        self.jobs.add(operated)
        try:
            self._register(operated)
        except OSError as error:
            _log.warning(
                "the job %r (%s) cannot be operated from another shell: %s",
                operated.job.name,
                operated.id,
                error,
            )

    def _register(self, operated: OperatedJob) -> None:
        with self._lock:
            if self._server is None:
                self._open()
            assert self._server is not None
            assert self._records is not None
            record = JobRecord(
                operated.id,
                operated.job.name,
                os.getpid(),
                str(self._server.server_address),
                operated.started,
                log=self.log,
                subtasks=subtasks_of(operated),
            )
            self._write(record)
            options = operated.job.settings.configuration
            self._records.remove_old(JOBS_KEPT.read(options), JOBS_KEPT_FOR.read(options))
        if operated.job.collected is None:
            self.archive(operated)  # of a driver that is killed, this is what is known
        operated.history.listen(_Ending(self, operated))
        if operated.over:
            self.ended(operated, operated.status)

    def archive(self, operated: OperatedJob) -> None:
        """Keep on disk what there is to tell of a job."""
        assert self._records is not None
        root = f"/jobs/{operated.id}"
        vertices = [f"/vertices/{task.id}" for task in operated.tasks]
        paths = (*_ARCHIVED, *vertices, *(f"{path}/subtasktimes" for path in vertices))
        answers = {path: self.router.answer(Request("GET", root + path)) for path in paths}
        told = {path: answer.content for path, answer in answers.items() if answer.status == OK}
        if self.log is None:
            told["/log"] = self._tail.text()
        with contextlib.suppress(OSError):
            self._records.archive(operated.id, told)

    def ended(self, operated: OperatedJob, status: JobStatus) -> None:
        """Note on disk how a job has ended."""
        self.archive(operated)
        failures = operated.history.failures
        cause = failures[-1].gist if failures and status is JobStatus.FAILED else None
        with self._lock:
            ended = operated.history.times.get(status)
            record = self._written[operated.id]
            told = replace(record, state=status.name, ended=ended, cause=cause)
            collects = operated.job.collected is not None
            with contextlib.suppress(OSError):
                if collects and status is JobStatus.FINISHED and not record.operations:
                    assert self._records is not None
                    self._records.remove(told)  # its program has all there is to tell
                else:
                    self._write(told)

    def _finished(self, job_id: str, request: str, result: dict[str, object]) -> None:
        """Note on disk the result of an operation: this process may end before anybody asks."""
        with self._lock:
            record = self._written.get(job_id)
            if record is None:
                return
            latest = list(record.operations.items())[-_MOST_RESULTS + 1 :]
            results = {**dict(latest), request: result}
            self._write(replace(record, operations=results))

    def _write(self, record: JobRecord) -> None:
        assert self._records is not None
        self._records.write(record)
        self._written[record.id] = record

    def _open(self) -> None:
        from pyflink_on_spark._operate.server.network import UnixRestServer, new_socket_path

        folder = jobs_folder()
        path = new_socket_path(folder)
        self._server = UnixRestServer(path, self.router)
        self._records = JobRecords(folder)
        self._server.start()
        atexit.register(self._close, os.getpid(), path)

    def _close(self, process: int, path: Path) -> None:
        """Let operations that end with the last job be noted and told; then remove the socket."""
        if os.getpid() == process:
            self._operations.wait(_WAIT_SECONDS)
            if self.network.url is not None:
                self._operations.wait_for_readers(self._linger)
            with contextlib.suppress(OSError):
                path.unlink()


class _Ending(JobListener):
    """Notes the end of a job on disk, and before the end what would be lost with the driver."""

    def __init__(
        self, driver: JobRegistry, operated: OperatedJob, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._driver, self._operated, self._now = driver, operated, now
        self._due = now() + _ARCHIVE_SECONDS

    def attempt_failed(self, failure: FailureRecord, delay_ms: int) -> None:
        """Keep the failure."""
        self._driver.archive(self._operated)

    def checkpoint_ended(self, checkpoint: CheckpointRecord) -> None:
        """Keep the checkpoints, from time to time."""
        if self._now() >= self._due:
            self._due = self._now() + _ARCHIVE_SECONDS
            self._driver.archive(self._operated)

    def status_changed(self, status: JobStatus, error: BaseException | None) -> None:
        """Note the end."""
        if status.is_globally_terminal_state():
            self._driver.ended(self._operated, status)


DRIVER = JobRegistry()
"""That of this process."""
