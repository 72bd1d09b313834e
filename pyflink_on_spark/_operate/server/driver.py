"""Lets the jobs of this process be found and operated from outside."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._job.submission.job import Job, JobListener
from pyflink_on_spark._operate.metrics.reporters import Reporters
from pyflink_on_spark._operate.server.network import NetworkServer
from pyflink_on_spark._operate.server.rest.checkpoints import Checkpoints
from pyflink_on_spark._operate.server.rest.control import Control, Operations
from pyflink_on_spark._operate.server.rest.job import JobDetails
from pyflink_on_spark._operate.server.rest.metrics import Metrics
from pyflink_on_spark._operate.server.rest.overview import Overview, Process
from pyflink_on_spark._operate.server.rest.routing import Router
from pyflink_on_spark._operate.server.rest.server import Page
from pyflink_on_spark._operate.server.rest.state import JobState
from pyflink_on_spark._operate.server.rest.task import TaskDetails
from pyflink_on_spark._operate.view.job_log import JobLog, LogTail
from pyflink_on_spark._operate.view.job_records import JobRecord, JobRecords, jobs_folder
from pyflink_on_spark._operate.view.jobs import OperableHandle, OperatedJob, OperatedJobs
from pyflink_on_spark.common import JobStatus

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.unix_socket import UnixRestServer

_WAIT_SECONDS = 5.0
_log = logging.getLogger("pyflink_on_spark")


class Driver:
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
        self.router = Router()
        tail = LogTail()
        for part in (
            Page(),
            Overview(self.jobs),
            JobDetails(self.jobs),
            JobState(self.jobs),
            Process(self.jobs, lambda: self.log, tail),
            Metrics(self.jobs),
            TaskDetails(self.jobs),
            Control(self.jobs, self._operations),
            Checkpoints(self.jobs),
        ):
            part.add_to(self.router)
        self.network = NetworkServer(self.router, tail)

    def watch(self, job: Job, handle: OperableHandle) -> OperatedJob:
        """Log what happens to a job from its start on, and report its metrics.

        Raises:
            EnvironmentSetupError: a metric reporter or the REST API has no free port, or a library
                is missing.
            UnsupportedFlinkFeature: a metric reporter needs Flink's JVM.
            ValueError: an option of a metric reporter or the REST API cannot be used.
        """
        operated = OperatedJob(job, handle)
        self._reporters.start(job.settings.configuration)
        self.network.start(job.settings.configuration)
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
            )
            self._write(record)
            self._records.remove_old()
        operated.history.listen(_Ending(self, operated))
        if operated.over:
            self.ended(operated, operated.status)

    def ended(self, operated: OperatedJob, status: JobStatus) -> None:
        """Note on disk how a job has ended."""
        with self._lock:
            ended = operated.history.times.get(status)
            record = self._written[operated.id]
            with contextlib.suppress(OSError):
                self._write(replace(record, state=status.name, ended=ended))

    def _finished(self, job_id: str, request: str, result: dict[str, Any]) -> None:
        """Note on disk the result of an operation: this process may end before anybody asks."""
        with self._lock:
            record = self._written.get(job_id)
            if record is None:
                return
            results = {**record.operations, request: result}
            self._write(replace(record, operations=results))

    def _write(self, record: JobRecord) -> None:
        assert self._records is not None
        self._records.write(record)
        self._written[record.id] = record

    def _open(self) -> None:
        from pyflink_on_spark._operate.server.unix_socket import UnixRestServer, new_socket_path

        folder = jobs_folder()
        path = new_socket_path(folder)
        self._server = UnixRestServer(path, self.router)
        self._records = JobRecords(folder)
        self._server.start()
        atexit.register(self._close, os.getpid(), path)

    def _close(self, process: int, path: Path) -> None:
        """Let operations that end with the last job be noted; then remove the socket."""
        if os.getpid() == process:
            self._operations.wait(_WAIT_SECONDS)
            with contextlib.suppress(OSError):
                path.unlink()


class _Ending(JobListener):
    """Notes the end of a job on disk."""

    def __init__(self, driver: Driver, operated: OperatedJob) -> None:
        self._driver, self._operated = driver, operated

    def status_changed(self, status: JobStatus, error: BaseException | None) -> None:
        """Note the end."""
        if status.is_globally_terminal_state():
            self._driver.ended(self._operated, status)


DRIVER = Driver()
"""That of this process."""
