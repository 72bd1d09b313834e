"""Runs jobs on Spark."""

from __future__ import annotations

import threading

from pyspark.sql import SparkSession

from pyflink_on_spark._job.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._spark.jobs.batch_job import BoundedJob
from pyflink_on_spark._spark.jobs.continuous_job import ContinuousJob
from pyflink_on_spark._spark.transport.result_channel import ResultServer


class SparkEngine:
    """Runs jobs on the active Spark session, or on a local one that it starts."""

    def __init__(self) -> None:
        self._server: ResultServer | None = None
        self._lock = threading.Lock()

    def submit(self, job: Job) -> BoundedJob | ContinuousJob:
        """Start a job: as one epoch if it ends by itself, else in continuous mode.

        Raises:
            CheckpointError: if the checkpoint that it is to begin with does not fit.
        """
        try:
            kind = ContinuousJob if _goes_on(job) else BoundedJob
            handle = kind(job, self.server)
            handle.start()
        except BaseException:
            job.ended(resumable=False)  # what sources have begun while the graph was translated
            raise
        return handle

    def server(self, session: SparkSession) -> ResultServer:
        """Return what workers send results to; one for the whole process."""
        with self._lock:
            if self._server is None:
                host = session.sparkContext.getConf().get("spark.driver.host", "127.0.0.1")
                self._server = ResultServer(host or "127.0.0.1")
            return self._server


def _goes_on(job: Job) -> bool:
    """Whether a job needs what only the continuous mode has."""
    if job.settings.batch:
        return False
    settings = CheckpointSettings.of(job.settings.configuration)
    return not job.bounded or settings.interval is not None or settings.restore is not None
