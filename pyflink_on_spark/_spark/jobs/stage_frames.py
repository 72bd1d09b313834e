"""A job's stages as one DataFrame."""

from __future__ import annotations

import pickle
from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own habit

from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.task.plan import StagePlan
from pyflink_on_spark._spark.jobs.prepared import PREPARED
from pyflink_on_spark._spark.jobs.stage_function import StageFunction
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.transport.arrow_rows import ROW_SCHEMA
from pyflink_on_spark._spark.transport.result_sender import ChannelAddress


def subtasks_of(stage: StagePlan) -> int:
    """Return how many subtasks a stage has."""
    return sum(vertex.parallelism for vertex in stage.vertices)


def run_stages(
    start: DataFrame,
    job: Job,
    address: ChannelAddress,
    attempt: int,
    dependencies: ShippedDependencies,
) -> DataFrame:
    """Return the rows that the last stage leaves for the driver; nothing runs before an action.

    Args:
        start: one row with a ``LONG`` for each subtask of stage 0, in a partition of its own.
        job: the job.
        address: how workers reach the driver.
        attempt: how often the job was restarted.
        dependencies: what the workers import from.
    """
    rows = start
    for number, stage in enumerate(job.stages):
        if number > 0:
            rows = exchanged(rows, stage)
        function = StageFunction(
            plan=pickle.dumps((stage, job.settings), 5),
            number=number,
            attempt=attempt,
            environment=WorkerEnvironment.of_driver(dependencies),
            address=address,
            channels={name: driver_channel(job, name) for name in (*channel_names(job), PREPARED)},
        )
        rows = rows.mapInArrow(function.__call__, ROW_SCHEMA)
    return rows


def channel_names(job: Job) -> Iterable[str]:
    """Return the names of the channels through which a job's subtasks send to the driver."""
    return [*job.printers, *([job.collected] if job.collected else [])]


def driver_channel(job: Job, name: str) -> str:
    """Return the name that a job's channel has in the driver, where other jobs have theirs."""
    return f"{job.settings.job_id}/{name}"


def exchanged(rows: DataFrame, stage: StagePlan) -> DataFrame:
    """Bring each subtask's rows into a partition of their own, in the order of their channels."""
    first = min(vertex.first_subtask_id for vertex in stage.vertices)
    count = subtasks_of(stage)
    place = F.pmod(F.col("subtask_id") - F.lit(first), F.lit(count)).cast("int")
    return rows.repartitionById(count, place).sortWithinPartitions("subtask_id", "seq", "channel")
