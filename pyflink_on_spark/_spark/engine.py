"""Runs jobs on Spark."""

from __future__ import annotations

import threading

from pyspark.sql import SparkSession

from pyflink_on_spark._cluster.transport.result_channel import ResultServer
from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._operate.server.job_registry import DRIVER
from pyflink_on_spark._options.own import ENGINE
from pyflink_on_spark._spark.hosts.host_permission import impossible, ruled_out
from pyflink_on_spark._spark.hosts.rdd_job import RddJob
from pyflink_on_spark._spark.hosts.streaming_job import StreamingJob
from pyflink_on_spark._spark.jobs.batch_job import BatchJob
from pyflink_on_spark._spark.session.connect_server import connect_session
from pyflink_on_spark._spark.session.dependencies import spark_settings
from pyflink_on_spark._spark.session.task_slots import driver_endpoint
from pyflink_on_spark._spark.structured.connect_batch_job import ConnectBatchJob
from pyflink_on_spark._spark.structured.connect_job import ConnectJob
from pyflink_on_spark._spark.structured.job_sessions import JobSessions
from pyflink_on_spark._spark.structured.query_job import QueryJob
from pyflink_on_spark._spark.structured.savepoints import check_unsigned, from_query
from pyflink_on_spark._spark.structured.stage_frames import FramesJob


def _check_remote(job: Job, wished: str) -> None:
    """Raise if a job cannot run on a server of Spark Connect.

    Raises:
        EnvironmentSetupError: it cannot.
    """
    if wished == "HOSTS" and not job.settings.batch:
        raise EnvironmentSetupError(
            f"the engine 'hosts' needs a Spark of its own process, and this one has a Spark "
            f"Connect server: leave {ENGINE.key} at 'auto'"
        )


def _obstacle(job: Job, wished: str) -> str:
    """Return why a job on a classic Spark cannot have hosts; an empty text if it can."""
    configuration = job.settings.configuration
    if wished == "HOSTS":
        return ruled_out(configuration)
    return impossible(configuration, long_running=not job.bounded)


class SparkEngine:
    """Runs jobs on the active Spark session, or on a local one that it starts."""

    def __init__(self) -> None:
        self._servers: dict[tuple[int, ...], ResultServer] = {}
        self._sessions = JobSessions()
        self._lock = threading.Lock()

    def submit(self, job: Job) -> BatchJob | StreamingJob | QueryJob:
        """Start a job.

        Raises:
            CheckpointError: if the checkpoint that it is to begin with does not fit.
        """
        try:
            handle = self._handle(job)
            operated = DRIVER.watch(job, handle)
            handle.start()
        except BaseException:
            job.ended(resumable=False)  # what sources have begun while the graph was translated
            raise
        DRIVER.offer(operated)
        return handle

    def _handle(self, job: Job) -> BatchJob | StreamingJob | QueryJob:
        configuration = job.settings.configuration
        wished = ENGINE.read(configuration)
        remote = connect_session(spark_settings(configuration))
        if remote is not None:
            _check_remote(job, wished)
            if not job.settings.batch:
                check_unsigned(configuration)
            session = self._sessions.of(remote, configuration)
            job = from_query(job, session)
            kind = ConnectBatchJob if job.settings.batch else ConnectJob
            return kind(job, session, remote, self._sessions.give_back)
        job = from_query(job)
        if job.settings.batch:
            return FramesJob(job) if _obstacle(job, wished) else RddJob(job, self.server)
        if wished == "STRUCTURED" or (obstacle := _obstacle(job, wished)):
            if wished == "HOSTS":
                raise EnvironmentSetupError(
                    f"there can be no hosts, since {obstacle}: leave {ENGINE.key} at 'auto'"
                )
            check_unsigned(configuration)
            return QueryJob(job)
        return StreamingJob(job, self.server)

    def server(self, session: SparkSession, ports: tuple[int, ...]) -> ResultServer:
        """Return the server that receives workers' results; one for all jobs with these ports."""
        with self._lock:
            if ports not in self._servers:
                self._servers[ports] = ResultServer(driver_endpoint(session, ports))
            return self._servers[ports]
