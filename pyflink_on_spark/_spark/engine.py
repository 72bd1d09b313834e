"""Runs jobs on Spark."""

from __future__ import annotations

import threading

from pyspark.sql import SparkSession

from pyflink_on_spark._job.job import Job
from pyflink_on_spark._operate.driver import DRIVER
from pyflink_on_spark._spark.jobs.batch_job import BatchJob
from pyflink_on_spark._spark.jobs.streaming_job import StreamingJob
from pyflink_on_spark._spark.session.driver_endpoint import driver_endpoint
from pyflink_on_spark._spark.structured.query_job import QueryJob
from pyflink_on_spark._spark.transport.result_channel import ResultServer
from pyflink_on_spark.common._options.own import ENGINE


class SparkEngine:
    """Runs jobs on the active Spark session, or on a local one that it starts."""

    def __init__(self) -> None:
        self._servers: dict[tuple[int, ...], ResultServer] = {}
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
        if job.settings.batch:
            return BatchJob(job, self.server)
        if ENGINE.read(job.settings.configuration) == "STRUCTURED":
            return QueryJob(job)
        return StreamingJob(job, self.server)

    def server(self, session: SparkSession, ports: tuple[int, ...]) -> ResultServer:
        """Return what workers send results to; one for all jobs of the process with these ports."""
        with self._lock:
            if ports not in self._servers:
                self._servers[ports] = ResultServer(driver_endpoint(session, ports))
            return self._servers[ports]
