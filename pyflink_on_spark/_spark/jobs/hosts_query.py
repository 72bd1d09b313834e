"""The query of Structured Streaming whose only micro-batch lasts as long as the hosts of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from pyflink_on_spark._spark.session.session import prepare_session
from pyflink_on_spark._spark.session.spark_defaults import scratch_subfolder


def start_hosts_query(
    session: SparkSession, name: str, folder: Path, run_hosts: Callable[[], None]
) -> StreamingQuery:
    """Start a query.

    Args:
        session: the session of the job.
        name: the name under which Spark shows the query.
        folder: a new folder for Spark's own checkpoint.
        run_hosts: called in the micro-batch, which ends with it.
    """
    source = (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 1)
        .option("numPartitions", 1)
        .load()
        .select("value")
    )
    return (
        source.writeStream.foreachBatch(lambda _batch, _number: run_hosts())
        .queryName(name)
        .option("checkpointLocation", folder.as_uri())
        .trigger(availableNow=True)
        .start()
    )


def prepare_jobs() -> None:
    """Start Spark, a worker and a query before it is known for which job.

    The first query of a JVM takes seconds, most of them to load classes.

    Raises:
        EnvironmentSetupError: as ``obtain_session``.
    """
    session = prepare_session()

    def run_in_worker() -> None:
        session.sparkContext.parallelize([0], 1).foreachPartition(_import_what_jobs_import)

    run_in_worker()
    folder = scratch_subfolder("queries") / "prepared"
    start_hosts_query(session, "prepared", folder, run_in_worker).awaitTermination()


def _import_what_jobs_import(_: Iterable[int]) -> None:
    """Import in a worker what each job imports there."""
    from pyflink_on_spark._spark.jobs import host_task, stage_function  # noqa: F401
